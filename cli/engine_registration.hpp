// How a loop engine joins the program: one file in engines/ with
//
//   #include "../engine_registration.hpp"
//   #include "gputm/speculation/my_engine.hpp"
//   GPUTM_CLI_LOOP_ENGINE(my_engine, gputm::speculation::my_engine, algorithm, "what it is, in a few words")
#pragma once

#include "loops/workload.hpp"
#include "registry.hpp"

namespace gputm::cli {

template <LoopEngine E>
workloads::measurement speculate_on(const device& d, const workloads::prepared_loop& l,
                                    const workloads::loop_options& o) {
  return workloads::loop_workload<E>(d, o).run(l);
}

template <LoopEngine E>
algorithm_entry engine_of(std::string_view name, role kind, std::string_view about) {
  algorithm_entry e;
  e.name = name;
  e.role = kind;
  e.about = about;
  e.traits = E::traits;
  e.loop = E::loop;
  e.speculate = speculate_on<E>;
  return e;
}

}  // namespace gputm::cli

#define GPUTM_CLI_LOOP_ENGINE(name, type, kind, about)     \
  [[maybe_unused]] static const bool added_engine_##name = \
      gputm::cli::add_engine(gputm::cli::engine_of<type>(#name, gputm::cli::role::kind, about));
