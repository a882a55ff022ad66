// How an algorithm joins the program: one file in algorithms/ with
//
//   #include "gputm/algorithm/my_algorithm.hpp"
//   #include "../registration.hpp"
//   GPUTM_CLI_ALGORITHM(my_algorithm, gputm::algorithm::my_algorithm, algorithm, "what it is, in a few words")
//
// It joins `bench` where GPUTM_CLI_BENCH is defined and `check` where GPUTM_CLI_CHECK is. With CUDA the file is
// compiled twice, because `check` needs the host device only: by nvcc for the one, by the C++ compiler for the other.
#pragma once

#include "registry.hpp"

#if defined(GPUTM_CLI_BENCH)

namespace gputm::cli {

template <Algorithm A>
workloads::measurement run_bank(const device& d, const workloads::bank_options& o) {
  return workloads::bank<A>(d, o).run();
}
template <Algorithm A>
workloads::measurement run_producer_consumer(const device& d, const workloads::producer_consumer_options& o) {
  return workloads::producer_consumer<A>(d, o).run();
}
template <Algorithm A>
workloads::measurement run_memcached(const device& d, const workloads::memcached_options& o) {
  return workloads::memcached<A>(d, o).run();
}

template <Algorithm A>
algorithm_entry entry_of(std::string_view name, role kind, std::string_view about) {
  algorithm_entry e;
  e.name = name;
  e.role = kind;
  e.about = about;
  e.traits = A::traits;
  e.bank = run_bank<A>;
  e.memcached = run_memcached<A>;
  if constexpr (!A::traits.one_thread) e.producer_consumer = run_producer_consumer<A>;
  return e;
}

}  // namespace gputm::cli

#define GPUTM_CLI_JOIN_BENCH(name, type, kind, about) \
  [[maybe_unused]] static const bool added_##name =   \
      gputm::cli::add(gputm::cli::entry_of<type>(#name, gputm::cli::role::kind, about));
#else
#define GPUTM_CLI_JOIN_BENCH(name, type, kind, about)
#endif

#if defined(GPUTM_CLI_CHECK)

#include "exploration.hpp"

#define GPUTM_CLI_JOIN_CHECK(name, type)                                                               \
  [[maybe_unused]] static const bool explored_##name =                                                 \
      gputm::cli::add(gputm::cli::exploration_entry{#name, "bank", gputm::cli::explore_bank<type>}) && \
      gputm::cli::explore_producer_consumer_of<type>(#name) &&                                         \
      gputm::cli::add(gputm::cli::exploration_entry{#name, "memcached", gputm::cli::explore_memcached<type>});
#else
#define GPUTM_CLI_JOIN_CHECK(name, type)
#endif

#define GPUTM_CLI_ALGORITHM(name, type, kind, about) \
  GPUTM_CLI_JOIN_BENCH(name, type, kind, about)      \
  GPUTM_CLI_JOIN_CHECK(name, type)
