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

struct count_each {
  array<long> a;
  template <Transaction It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    GPUTM_TRY(long x, it.load(a[i]));
    GPUTM_TRY(it.store(a[i], x + 1));
    return gputm::commit;
  }
};

/// Takes a while: one element for all.
struct two_launches {
  static constexpr std::uint64_t inputs = 3'000;
  device d = cuda_device();
  memory<algorithm::jvstm_gpu> tm{d};
  array<long> a = tm.allocate<long>(1);
  stream first{d}, second{d};
  buffer in{d, inputs * sizeof(long)};
  workspace<algorithm::jvstm_gpu> one = make(), other = make();

  workspace<algorithm::jvstm_gpu> make() {
    return make_workspace<count_up, long>(first, tm, inputs, {.capacity = {.reads = 1, .writes = 1}});
  }
  two_launches() {
    const std::vector<long> ones(inputs, 1);
    d->copy_to_device(first.handle(), in.as<void>(), ones.data(), in.size());
    first.synchronize();
    launch(first, one);
  }
  void launch(const stream& s, workspace<algorithm::jvstm_gpu>& w) {
    run_async(s, tm, w, count_up{a}, bulk<long, gputm::detail::result_of<count_up>::type>{in.as<long>(), inputs});
  }
  void check(long launches) {
    if (tm.read(first, a, 0) != launches * static_cast<long>(inputs)) throw error("the sum is wrong");
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
  using engine = speculation::gpu_tls;
  struct part {
    device d;
    memory<engine> tm{d};
    stream s{d};
    array<long> a = tm.allocate<long>(1000);
    loop_workspace<engine> work = make_loop_workspace<count_each>(s, tm, 1000, {.capacity = {.reads = 1, .writes = 1}});
  };
  std::string message;
  std::thread([&message] {
    message = outcome_of<no_device>([] {
      part parts[]{{cuda_device(1)}, {cuda_device(0)}};
      for (int turn = 0; turn < 6; ++turn)
        for (part& p : parts) speculate_async(p.s, p.tm, p.work, 1000, count_each{p.a});
      for (part& p : parts) {
        p.work.collect(p.s, p.tm);
        if (p.tm.read(p.s, p.a) != std::vector<long>(1000, 6)) throw error("the sums are wrong");
      }
    });
  }).join();
  return message;
}
std::string overlapping_launch() {
  return outcome_of<invalid_argument>([] {
    two_launches t;
    t.launch(t.second, t.other);
  });
}
std::string overlapping_read() {
  return outcome_of<invalid_argument>([] {
    two_launches t;
    t.tm.read(t.second, t.a);
  });
}
std::string launches_in_turn() {
  return outcome_of<no_device>([] {
    two_launches t;
    t.launch(t.first, t.other);
    t.first.synchronize();
    t.launch(t.second, t.other);
    t.other.collect(t.second, t.tm);
    t.launch(t.first, t.one);
    t.one.collect(t.first, t.tm);
    t.check(4);
  });
}
std::string ordinary_run() {
  return outcome_of<no_device>([] { run_on(cuda_device(), {}); });
}
std::string run_on_the_host() {
  return outcome_of<no_device>([] { run_on(host_device(), {.blocks = 2, .threads = 8}); });
}

}  // namespace gputm::api_test
