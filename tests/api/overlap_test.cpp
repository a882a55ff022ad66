// Launches, and accesses by the host, that overlap a launch on another stream.
#include <set>

#include "forwarding_device.hpp"
#include "gputm/algorithm/jvstm_gpu.hpp"
#include "gputm/algorithm/locks.hpp"
#include "gputm/speculation/gpu_tls.hpp"
#include "support.hpp"

namespace gputm::api_test {
namespace {

/// The host device with streams that tests call busy: its launches are over, but nobody knows.
class device_of_streams : public forwarding_device {
  std::uintptr_t last_ = 0;

 public:
  std::set<void*> busy, recording, destroyed;
  void* create_stream() override { return reinterpret_cast<void*>(++last_); }
  void destroy_stream(void* s) noexcept override { destroyed.insert(s); }
  bool is_recording(void* s) override { return recording.count(s) != 0; }
  bool is_busy(void* s) override {
    if (destroyed.count(s) != 0) ADD_FAILURE() << "asked about a stream that is destroyed";
    return busy.count(s) != 0;
  }
};

struct add_one {
  array<long> a;
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<unsigned>(i);
    GPUTM_TRY(const long x, it.load(a[k]));
    GPUTM_TRY(it.store(a[k], x + 1));
    return gputm::commit;
  }
};

struct overlap : testing::Test {
  std::shared_ptr<device_of_streams> with = std::make_shared<device_of_streams>();
  device on{with};
  stream first{on};
  std::unique_ptr<stream> second = std::make_unique<stream>(on);

  template <class Act>
  static testing::AssertionResult is_refused(Act act) {
    return throws<invalid_argument>(act, {"on this memory is under way on another stream", "collect"});
  }

  template <class A>
  struct bank {
    memory<A> tm;
    array<long> a = tm.template allocate<long>(1);
    buffer in{tm.on(), sizeof(long)};
    explicit bank(const device& d, const stream& s) : tm(d) {
      const long one = 1;
      d->copy_to_device(s.handle(), in.template as<void>(), &one, sizeof one);
    }
    workspace<A> make(const stream& s) { return make_workspace<add_to, long, with_statistics>(s, tm, 1, {}); }
    void launch(const stream& s, workspace<A>& w) {
      run_async(s, tm, w, add_to{a}, bulk<long, long>{in.template as<long>(), 1});
    }
  };
};

TEST_F(overlap, launches_that_must_not_overlap_are_refused) {
  bank<algorithm::jvstm_gpu> b(on, first);
  auto one = b.make(first), other = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  EXPECT_TRUE(is_refused([&] { b.launch(*second, other); }));
  b.launch(first, other);  // behind it
  with->busy = {};         // who has waited may go on, collected or not
  b.launch(*second, other);
  EXPECT_EQ(b.tm.read(first, b.a, 0), 3);
}
TEST_F(overlap, launches_that_are_collected_do_not_count) {
  bank<algorithm::jvstm_gpu> b(on, first);
  auto one = b.make(first), other = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  EXPECT_EQ(one.collect(first, b.tm).commits, 1u);
  b.launch(*second, other);
  EXPECT_EQ(other.collect(*second, b.tm).commits, 1u);
}
TEST_F(overlap, launches_whose_locks_lie_in_the_memory_overlap) {
  bank<stm> b(on, first);
  auto one = b.make(first), other = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  b.launch(*second, other);
  EXPECT_EQ(one.collect(first, b.tm).commits + other.collect(*second, b.tm).commits, 2u);
}
TEST_F(overlap, launches_of_one_workspace_never_overlap) {
  bank<stm> b(on, first);
  auto one = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  EXPECT_TRUE(throws<invalid_argument>([&] { b.launch(*second, one); }, {"launching", "workspace", "another stream"}));
  EXPECT_TRUE(
      throws<invalid_argument>([&] { one.collect(*second, b.tm); }, {"collecting", "workspace", "another stream"}));
  b.launch(first, one);
  EXPECT_EQ(one.collect(first, b.tm).commits, 1u);
  EXPECT_EQ(b.tm.read(first, b.a, 0), 2);
}
TEST_F(overlap, launches_keep_the_host_from_their_memory) {
  bank<stm> b(on, first);
  auto one = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  EXPECT_TRUE(is_refused([&] { b.tm.read(*second, b.a); }));
  EXPECT_TRUE(is_refused([&] { b.tm.fill(*second, b.a, 7); }));
  EXPECT_TRUE(is_refused([&] { b.tm.changed(*second, b.a, 0, 1); }));
  EXPECT_TRUE(is_refused([&] { b.tm.template allocate<int>(1); }));
  EXPECT_EQ(b.tm.core().region_count(), 1u);
  EXPECT_EQ(b.tm.read(first, b.a, 0), 1);
}
TEST_F(overlap, launches_of_workspaces_that_are_gone_are_over) {
  bank<algorithm::jvstm_gpu> b(on, first);
  auto other = b.make(first);
  {
    auto one = b.make(first);
    b.launch(first, one);
    auto moved = std::move(one);
    with->busy = {first.handle()};
    EXPECT_TRUE(is_refused([&] { b.launch(*second, other); }));
  }
  b.launch(*second, other);
  EXPECT_EQ(b.tm.read(*second, b.a, 0), 2);
}
TEST_F(overlap, launches_outlive_their_streams) {
  bank<algorithm::jvstm_gpu> b(on, first);
  auto one = b.make(first), other = b.make(first);
  b.launch(*second, one);
  second.reset();  // nobody may ask about it any more
  b.launch(first, other);
  b.launch(first, one);
  EXPECT_EQ(b.tm.read(first, b.a, 0), 3);
}
TEST_F(overlap, launches_that_are_recorded_run_at_another_time) {
  bank<algorithm::jvstm_gpu> b(on, first);
  auto one = b.make(first), other = b.make(first);
  b.launch(first, one);
  with->busy = {first.handle()};
  with->recording = {second->handle()};
  b.launch(*second, other);
}
TEST_F(overlap, launches_of_loops_are_refused_as_well) {
  memory<speculation::gpu_tls> tm(on);
  const array<long> a = tm.allocate<long>(64);
  const loop_config config{.capacity = {.reads = 1, .writes = 1}};
  auto one = make_loop_workspace<add_one>(first, tm, 64, config),
       other = make_loop_workspace<add_one>(first, tm, 64, config);
  speculate_async(first, tm, one, 64, add_one{a});
  with->busy = {first.handle()};
  EXPECT_TRUE(is_refused([&] { speculate_async(*second, tm, other, 64, add_one{a}); }));
  EXPECT_TRUE(throws<invalid_argument>([&] { one.collect(*second, tm); }, {"collecting", "another stream"}));
  EXPECT_EQ(one.collect(first, tm).iterations, 64u);
  speculate_async(*second, tm, other, 64, add_one{a});
  EXPECT_EQ(tm.read(*second, a), std::vector<long>(64, 2));
}

}  // namespace
}  // namespace gputm::api_test
