// Floor 4: what a user may choose of a speculative loop, and what it tells afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gputm/client.hpp"
#include "gputm/parts/loop_state.hpp"
#include "gputm/parts/writer_table.hpp"

namespace gputm {

/// Sizes and limits of a speculative loop. Zeros are chosen by gputm.
struct loop_config {
  gputm::capacity capacity{};      ///< elements that one iteration may store to, and loads that it may do without
                                   ///< having to wait until it is the first of a window. Logs, and on a GPU threads,
                                   ///< follow it: more than iterations need makes loops slower
  std::uint32_t blocks = 0;        ///< all of them are resident together
  std::uint32_t threads = 0;       ///< in a block. If this and `blocks` are 0, and there are iterations for all
                                   ///< threads of a GPU, one multiprocessor's are one block; fewer of them where
                                   ///< iterations have room for 32 loads and stores
  std::uint32_t window = 0;        ///< iterations under speculation at a time, at most
  std::uint32_t first_window = 0;  ///< the same for a first window in which all reads are logged: of a workspace's
                                   ///< first loop, and of one after a loop that was not calm to its end. 0: all of a
                                   ///< loop that one window can be, if violations are repaired; else, if windows adapt,
                                   ///< one for each thread
  std::uint32_t smallest_window = 32;  ///< that a window shrinks to
  bool adapt = true;                   ///< windows follow the violations; else all have `window`
  bool in_place = true;                ///< gpu_tls runs loops in place whose iterations store to elements of their own,
                                       ///< as those before in their workspace, or as a scout has found out. One of
                                       ///< several windows takes memory of its own for what it saves: `log_bytes` at
                                       ///< most, or, if that is 0, a GiB or an eighth of a GPU's memory, and some bytes
                                       ///< for each iteration
  bool overlap = true;                 ///< a window of gpu_tls may begin before the commits of the one before are done,
                                       ///< and begins anew if one of its iterations reads near to what the loop stores
  bool peek = true;                    ///< reads of gpu_tls, if they are few, may look whether earlier loops have
                                       ///< stored to their element. If none has, and all that a loop stores to had
                                       ///< been stored to before, it needs no check
  std::uint32_t repairs = 16;  ///< times that a window's violating iterations run again in it, 2^19 - 1 at most; 0:
                               ///< never
  std::optional<bool> repair_whole = {};  ///< a window is repaired as a whole before it gives up positions, however
                                          ///< many are in violation: that costs runs of bodies, and saves windows.
                                          ///< Unless set: on GPUs
  std::optional<std::uint32_t> most_again = {};  ///< where iterations depend on others far before them: that are to run
                                                 ///< again in a window, about, and four times as many where elements
                                                 ///< have several writers. Windows grow and shrink for that; 0: only by
                                                 ///< what others do. Unless set: on GPUs half as many as there are
                                                 ///< threads, else 0
  std::uint32_t patience = 128;    ///< looks of one that runs again, and needs the value of another one that does,
                                   ///< whether that has run, before it leaves that to the next time; 1,024 times as
                                   ///< many where long ones run again. Where many run again, rounds of a warp in which
                                   ///< none of its iterations could run. 0: none, so values go from one to the next
                                   ///< once each time
  std::uint32_t stretch = 8192;    ///< iterations that one thread runs in a row when windows fail, at most; 0, or
                                   ///< without `adapt`: one, and only if nothing else can commit
  std::optional<bool> timed = {};  ///< such a stretch also follows a window that was slower than one thread.
                                   ///< Unless set: on GPUs, for gpu_tls and its forms that repair
  std::uint32_t table_slots = 0;   ///< of a hashed table: a power of two. 0: hashed only if memory is short
  std::optional<std::uint64_t> marks_bytes = {};   ///< beyond which memory is short: that 16 bytes for every element
                                                   ///< need, or 8 for direct_update. Unless set: 4 GiB, or, for loops
                                                   ///< that may access one in 16 of the elements, an eighth of a GPU's
                                                   ///< memory, if that is more
  std::uint32_t tags = parts::writer_table::tags;  ///< windows (times two) between two clearings of the table
  std::uint64_t scout_from = 1u << 19;  ///< iterations; a first loop of fewer has no scout, nor has one whose workspace
                                        ///< has been made for fewer: a kernel before it that runs some of them, to find
                                        ///< out whether all had better run in place. Half as many will do if an
                                        ///< iteration has room for 32 loads and stores or more
  std::uint64_t skip_idle_from = 1u << 18;  ///< iterations: a workspace made for fewer runs a body that is mostly_idle
                                            ///< as any other
  std::uint64_t longest_iteration = 1u << 24;  ///< loads and stores of an iteration, beyond which it is a runaway; at
                                               ///< most 2^32 - 2, which larger values mean
  std::uint64_t log_bytes = 0;  ///< the logs' share of device memory; the window shrinks to fit it. 0: a GiB, or more
                                ///< if an iteration for each thread needs more, up to an eighth of a GPU's memory
};

/// Counters of one loop.
struct loop_statistics {
  std::uint64_t iterations = 0;  ///< that took effect
  std::uint64_t rounds = 0;      ///< windows and passes in place, those that committed nothing included
  std::uint64_t checked = 0;     ///< windows that were checked: reads were near to stores, or something went wrong
  std::uint64_t executed = 0;   ///< runs of the body, those of a scout included, and of a look for busy iterations; but
                                ///< no runs only to load for another thread, nor those that end where an iteration asks
                                ///< for that
  std::uint64_t serial = 0;     ///< iterations that one thread ran alone, since windows failed or were slower
  std::uint64_t in_place = 0;   ///< iterations that ran in place (loop_config::in_place)
  std::uint64_t forwarded = 0;  ///< reads of a value that a lower iteration had not committed yet
  std::array<std::uint64_t, violation_kinds> violations{};  ///< iterations seen to be in violation

  std::uint64_t re_executed() const { return executed - iterations; }
  std::uint64_t operator[](violation v) const { return violations[static_cast<std::size_t>(v)]; }
};

/// The violation's name as in the JSON of the command line.
constexpr const char* name(violation v) {
  constexpr const char* names[] = {"raw", "war", "waw", "crowded", "capacity", "body"};
  return names[static_cast<std::size_t>(v)];
}

}  // namespace gputm
