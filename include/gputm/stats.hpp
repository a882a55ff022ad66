// Floor 4: what a run counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gputm/parts/abort_reason.hpp"

namespace gputm {

/// Counters of one launch. A transaction that cancels or asks for a retry counts under aborts.
struct statistics {
  std::uint64_t commits = 0;  ///< of both kinds
  std::uint64_t read_only_commits = 0;
  std::uint64_t read_only_aborts = 0;  ///< of attempts that were read-only
  std::array<std::uint64_t, abort_reasons> aborts{};
  std::array<std::uint64_t, phases> phase_ns{};  ///< of all transactions; zero unless compiled in (GPUTM_PHASES)

  std::uint64_t operator[](abort_reason r) const { return aborts[static_cast<std::size_t>(r)]; }
  /// Attempts that failed for a reason other than the body's own wish.
  std::uint64_t conflicts() const {
    std::uint64_t n = 0;
    for (std::size_t r = 0; r < abort_reasons; ++r)
      if (r != static_cast<std::size_t>(abort_reason::cancelled) && r != static_cast<std::size_t>(abort_reason::retry))
        n += aborts[r];
    return n;
  }
  double aborts_per_commit() const {
    return commits ? static_cast<double>(conflicts()) / static_cast<double>(commits) : 0;
  }
};

/// The reason's name as in the JSON of the command line.
constexpr const char* name(abort_reason r) {
  constexpr const char* names[] = {"none",        "read_conflict",      "write_conflict",
                                   "lock_stolen", "record_overwritten", "version_overwritten",
                                   "capacity",    "cancelled",          "retry"};
  return names[static_cast<std::size_t>(r)];
}

/// The phase's name as in the JSON of the command line.
constexpr const char* name(phase p) {
  constexpr const char* names[] = {"total", "wasted", "server_wait", "validation", "record_insert", "write_back"};
  return names[static_cast<std::size_t>(p)];
}

}  // namespace gputm
