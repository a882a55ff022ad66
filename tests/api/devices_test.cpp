// Devices: what a host device is told, and what it tells.
#include "support.hpp"

namespace gputm::api_test {
namespace {

const std::vector<long> some_inputs(100, 1);

TEST(devices, a_launch_for_the_host_needs_the_host) {
  auto f = std::make_shared<frugal>();
  f->claims = device_kind::cuda;
  const device d{f};
  const stream s{d};
  {
    memory<stm> tm(d);
    auto a = tm.allocate<long>(1);
    EXPECT_TRUE(throws<no_device>([&] { run(s, tm, some_inputs, add_to{a}); }, {"a frugal device", "nvcc"}));
    EXPECT_TRUE(throws<no_device>([&] { last_report(d); }, {"a frugal device", "not a host device"}));
  }
  EXPECT_EQ(f->live, 0u);
}

TEST(devices, a_host_config_out_of_range_is_refused) {
  const auto with = [](auto change, std::initializer_list<std::string> parts) {
    host::config c;
    change(c);
    return throws<invalid_argument>(
        [&] {
          const device d = host_device(c);
          memory<stm> tm(d);
          auto a = tm.allocate<long>(1);
          run(stream{d}, tm, some_inputs, add_to{a}, {}, {.blocks = 1, .threads = 2});
        },
        parts);
  };
  EXPECT_TRUE(with([](host::config& c) { c.warp_width = 33; }, {"warp_width", "33", "32"}));
  EXPECT_TRUE(with([](host::config& c) { c.stack_bytes = 1000; }, {"stack_bytes", "1000"}));
  EXPECT_TRUE(with([](host::config& c) { c.os_threads = 100'000; }, {"os_threads", "100000"}));
  EXPECT_TRUE(with([](host::config& c) { c.weak_memory = true; }, {"weak_memory", "fast"}));
  EXPECT_TRUE(with([](host::config& c) { c.schedule = host::scheduler::random, c.switch_probability = 2; },
                   {"switch_probability"}));
}

TEST(devices, a_warp_width_of_zero_is_refused) {
  host::config c;
  c.warp_width = 0;
  EXPECT_THROW(
      {
        const device d = host_device(c);
        memory<stm> tm(d);
        auto a = tm.allocate<long>(1);
        run(stream{d}, tm, some_inputs, add_to{a});
      },
      invalid_argument);
}

struct checks {
  template <class Context>
  GPUTM_FN void operator()(Context& ctx, std::uint32_t unlucky) const {
    simt::check(ctx.rank() != unlucky, "an unlucky thread");
  }
};

TEST(devices, a_failed_schedule_says_how_to_replay_it) {
  host::config c;
  c.schedule = host::scheduler::random;
  c.seed = 4711;
  const device d = host_device(c);
  const stream s(d);
  memory<stm> tm(d);
  EXPECT_TRUE(throws<schedule_failed>([&] { launch(s, tm, {.blocks = 2, .threads = 3}, checks{}, 4u); },
                                      {"an unlucky thread", "devices_test.cpp", "random", "4711"}));
  EXPECT_EQ(last_report(d).result, host::verdict::check_failed);
  launch(s, tm, {.blocks = 2, .threads = 3}, checks{}, 100u);
  EXPECT_EQ(last_report(d).result, host::verdict::ok);
}

}  // namespace
}  // namespace gputm::api_test
