// Floor 2: why an attempt did not commit.
#pragma once

#include <cstdint>

namespace gputm {

enum class abort_reason : std::uint8_t {
  none,
  read_conflict,        ///< something read was locked or has changed
  write_conflict,       ///< something to be written was locked or pre-locked by another
  lock_stolen,          ///< a pre-lock was stolen by a higher priority (PR-STM)
  record_overwritten,   ///< spurious: the commit record was too short (multi-version algorithms)
  version_overwritten,  ///< spurious: the wanted version was gone (multi-version algorithms)
  capacity,             ///< a read or write set overflowed, or the body did what is an error: the launch ends
  cancelled,            ///< the body returned cancel
  retry                 ///< the body returned retry
};
inline constexpr unsigned abort_reasons = 9;

namespace parts {
/// Which set of a transaction was too small.
enum class overflow_kind : std::uint8_t { none, reads, writes };
}  // namespace parts

/// Phases of a transaction whose time can be measured (parts/phases.hpp).
enum class phase : std::uint8_t {
  total,          ///< all attempts, and waiting between them
  wasted,         ///< attempts that aborted, and waiting after them
  server_wait,    ///< from a batch's sending to the server's answer
  validation,     ///< against the record, or of locks
  record_insert,  ///< into the record
  write_back      ///< storing, and publishing in order
};
inline constexpr unsigned phases = 6;

}  // namespace gputm
