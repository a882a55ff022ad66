// A GPU as a device: compiled by nvcc, in builds with CUDA only.
#include "gpu_calls.hpp"

#include <thread>

#include "gputm/gputm.hpp"

namespace gputm::api_test {
namespace {

template <class Error, class Act>
std::string outcome_of(Act act) {
  try {
    act();
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

struct count_up {
  array<long> a;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long in) const {
    GPUTM_TRY(long x, tx.load(a[0]));
    GPUTM_TRY(tx.store(a[0], x + in));
    return gputm::commit;
  }
};

void run_on(const device& d, launch_config c) {
  memory<algorithm::pr_stm> tm(d);
  const stream s(d);
  auto a = tm.allocate<long>(1);
  run(s, tm, std::vector<long>(500, 1), count_up{a}, {.reads = 1, .writes = 1}, c);
  if (tm.read(s, a, 0) != 500) throw error("the sum is wrong");
}

}  // namespace

std::string ask_for_gpu(int ordinal) {
  return outcome_of<no_device>([&] { cuda_device(ordinal); });
}
std::string oversized_grid() {
  return outcome_of<grid_not_resident>([] { run_on(cuda_device(), {.blocks = 1u << 20, .threads = 256}); });
}
std::string oversized_block() {
  return outcome_of<invalid_argument>([] { run_on(cuda_device(), {.threads = 1025}); });
}
std::string oversized_array() {
  return outcome_of<out_of_memory>([] {
    struct page {
      char bytes[4096];
    };
    memory<algorithm::pr_stm> tm(cuda_device());
    tm.allocate<page>(1u << 30);
  });
}
std::string two_gpus_in_turn() {
  std::string first, second;
  const auto run_both = [&] {
    first = outcome_of<no_device>([] { run_on(cuda_device(1), {}); });
    second = outcome_of<no_device>([] {
      const device devices[]{cuda_device(0), cuda_device(1)};
      using stm = algorithm::pr_stm;
      memory<stm> tm[]{memory<stm>(devices[0]), memory<stm>(devices[1])};
      const stream s[]{stream(devices[0]), stream(devices[1])};
      const array<long> a[]{tm[0].allocate<long>(1), tm[1].allocate<long>(1)};
      for (int turn = 0; turn < 4; ++turn)
        run(s[turn % 2], tm[turn % 2], std::vector<long>(500, 1), count_up{a[turn % 2]}, {.reads = 1, .writes = 1});
      for (int k = 0; k < 2; ++k)
        if (tm[k].read(s[k], a[k], 0) != 1000) throw error("the sum is wrong");
    });
  };
  std::thread(run_both).join();
  return first == second ? first : first + "; " + second;
}
std::string ordinary_run() {
  return outcome_of<no_device>([] { run_on(cuda_device(), {}); });
}
std::string run_on_the_host() {
  return outcome_of<no_device>([] { run_on(host_device(), {.blocks = 2, .threads = 8}); });
}

}  // namespace gputm::api_test
