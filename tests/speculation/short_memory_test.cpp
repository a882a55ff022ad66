// Logs and marks of loops on a device that has little memory, or much.
#include "forwarding_device.hpp"
#include "speculation/fixture.hpp"

namespace gputm {
namespace {

using engine = speculation::gpu_tls;

/// The host device, with as much memory as it is told.
class measured_device : public forwarding_device {
 public:
  std::uint64_t bytes = 0;                ///< that it says it has
  std::size_t largest = ~std::size_t{0};  ///< that it gives away at once
  std::vector<std::size_t> refused;       ///< what it has been asked for and has not
  std::uint64_t memory_bytes() const override { return bytes; }
  void* allocate(std::size_t n) override {
    if (n <= largest) return forwarding_device::allocate(n);
    refused.push_back(n);
    throw out_of_memory("no " + std::to_string(n) + " bytes");
  }
};

struct add_one {
  array<int> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const auto k = static_cast<unsigned>(i);
    GPUTM_TRY(const int v, it.load(a[k]));
    GPUTM_TRY(it.store(a[k], v + 1));
    return gputm::commit;
  }
};

struct short_memory : testing::Test {
  static constexpr std::uint32_t n = 8192;
  std::shared_ptr<measured_device> with = std::make_shared<measured_device>();
  device on{with};
  stream s{on};
  memory<engine> tm{on};
  array<int> a = tm.allocate<int>(n);
  loop_config config{.capacity = {.reads = 4096, .writes = 1}};
};

/// One iteration in a thousand adds 1.
struct rarely_add_one {
  array<int> a;
  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    return i % 1000 == 0 ? add_one{a}(it, i % 8) : gputm::commit;
  }
};
TEST_F(short_memory, without_room_for_a_list_of_busy_iterations_there_is_none) {
  constexpr int many = 100'000;
  memory<engine> few{on};
  const auto b = few.allocate<int>(8);
  const mostly_idle body{rarely_add_one{b}};
  config = {.capacity = {.reads = 1, .writes = 1}, .blocks = 1, .threads = 8, .window = 64, .skip_idle_from = 1};
  EXPECT_LT(speculate(s, few, many, body, config).executed, 2u * many);
  with->largest = 100'000;
  const loop_statistics done = speculate(s, few, many, body, config);
  EXPECT_EQ(with->refused.size(), 1u);
  EXPECT_EQ(done.iterations, static_cast<std::uint64_t>(many));
  EXPECT_EQ(few.read(s, b, 0), 2 * many / 1000);
}
TEST_F(short_memory, without_room_for_marks_there_is_one_for_a_list_of_busy_iterations) {
  constexpr int many = 100'000;
  memory<engine> few{on};
  const auto b = few.allocate<int>(8);
  (void)few.allocate<std::uint8_t>(200'000);  // whose marks nobody has room for
  const mostly_idle body{rarely_add_one{b}};
  config = {.capacity = {.reads = 1, .writes = 1}, .blocks = 1, .threads = 8, .window = 64, .skip_idle_from = 1};
  with->largest = 2'000'000;
  const loop_statistics done = speculate(s, few, many, body, config);
  EXPECT_GE(with->refused.size(), 1u);
  EXPECT_EQ(done.iterations, static_cast<std::uint64_t>(many));
  EXPECT_LT(done.executed, 2u * many);
}
TEST_F(short_memory, a_gpu_has_logs_for_an_iteration_of_each_thread) {
  constexpr std::uint32_t threads = 128;
  config.capacity.reads = 1u << 21;  // 16 MiB
  const auto window = [&](std::uint64_t bytes) {
    with->bytes = bytes;
    return detail::plan_loop(config, engine::loop, tm.core(), n, threads).limits.window;
  };
  EXPECT_EQ(window(0), 63u);
  EXPECT_EQ(window(std::uint64_t{4} << 30), 63u);
  EXPECT_EQ(window(std::uint64_t{12} << 30), 95u);
  EXPECT_EQ(window(std::uint64_t{80} << 30), threads);
  config.log_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(window(std::uint64_t{80} << 30), 63u);
}
TEST_F(short_memory, elements_of_a_large_gpu_have_marks_of_their_own) {
  memory<engine> large{on};
  std::uint8_t first = 0;
  large.adopt(&first, std::uint64_t{1} << 29);  // nobody accesses them; 16 bytes for each are 8 GiB
  config.capacity.reads = 1;
  std::uint64_t iterations = 1u << 24;  // that access two of them each, so one in 16
  const auto hashed = [&](std::uint64_t gib) {
    with->bytes = gib << 30;
    return detail::plan_loop(config, engine::loop, large.core(), iterations, 64).table.slots != 0;
  };
  EXPECT_TRUE(hashed(0));
  EXPECT_TRUE(hashed(63));
  EXPECT_FALSE(hashed(64));
  --iterations;
  EXPECT_TRUE(hashed(64)) << "to clear marks takes longer than that";
  config.marks_bytes = (std::uint64_t{8} << 30) - 1;
  EXPECT_TRUE(hashed(64));
  config.marks_bytes = std::uint64_t{8} << 30;
  EXPECT_FALSE(hashed(0));
}
TEST_F(short_memory, long_loops_of_a_large_gpu_run_in_place) {
  constexpr std::uint32_t long_loop = 1u << 27;  // two words for each iteration are 2 GiB
  config.capacity.reads = 1;
  const auto saved = [&](std::uint64_t gib) {
    with->bytes = gib << 30;
    return detail::plan_loop(config, engine::loop, tm.core(), long_loop, 64).saved_positions;
  };
  EXPECT_EQ(saved(0), 0u);
  EXPECT_EQ(saved(15), 0u);
  EXPECT_EQ(saved(16), long_loop);
  config.log_bytes = (std::uint64_t{2} << 30) - 1;
  EXPECT_EQ(saved(16), 0u);
  ++config.log_bytes;
  EXPECT_EQ(saved(0), long_loop);
}
TEST_F(short_memory, what_does_not_fit_becomes_smaller) {
  const auto window = [&](std::size_t largest) {
    with->largest = largest;
    auto w = make_loop_workspace<add_one>(s, tm, n, config);
    speculate_async(s, tm, w, n, add_one{a});
    w.collect(s, tm);
    return w.limits().window;
  };
  EXPECT_EQ(window(std::size_t{1} << 30), n);
  EXPECT_LT(window(std::size_t{100} << 20), n);
  EXPECT_EQ(with->refused.size(), 1u);  // nothing is asked for twice
  EXPECT_EQ(tm.read(s, a), std::vector<int>(n, 2));
  conformance::require_throws<out_of_memory>(
      [&] { window(std::size_t{1} << 20); },
      {"marks of elements need", "capacity of 4096 reads and 1 writes", "lower capacity"});
  config.table_slots = 1u << 20;
  conformance::require_throws<out_of_memory>([&] { window(std::size_t{1} << 20); },
                                             {"with table_slots 1048576", "lower table_slots, capacity"});
  EXPECT_EQ(tm.read(s, a), std::vector<int>(n, 2));
}

}  // namespace
}  // namespace gputm
