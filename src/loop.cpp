// What speculative loops need that does not depend on types: sizes, counters.
#include <algorithm>
#include <bit>
#include <limits>

#include "gputm/loop_workspace.hpp"
#include "gputm/parts/left_out_list.hpp"
#include "gputm/parts/owner_table.hpp"

namespace gputm::detail {
namespace {

constexpr std::uint32_t most_slots = 1u << 21, most_slots_on_host = 1u << 17;

constexpr std::uint64_t ceiling(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Bytes of an element that has marks of its own.
constexpr std::uint64_t marks_of_element(const loop_traits& traits) {
  return traits.writers ? parts::writer_table::marks_bytes : parts::owner_table::word_bytes;
}
constexpr std::uint64_t head_of_element(const loop_traits& traits) {
  return traits.writers ? sizeof(std::uint64_t) : 0;
}

/// Loads and stores that an iteration has room for.
constexpr std::uint64_t accesses_of_iteration(const loop_config& c) {
  return std::uint64_t{c.capacity.reads} + c.capacity.writes;
}

/// Elements that an iteration marks, at most.
std::uint64_t marked_by_iteration(const loop_config& c, const loop_traits& traits) {
  return std::max<std::uint64_t>(1, std::uint64_t{c.capacity.writes} + (traits.writers ? 0 : c.capacity.reads));
}

/// An eighth of a GPU's memory, or `usual`, if that is more: what a loop may have of it without being asked.
std::uint64_t share_of_memory(const backend& on, std::uint64_t usual) { return std::max(usual, on.memory_bytes() / 8); }

/// Whether every element has marks of its own.
bool plan_marks(const loop_config& c, const loop_traits& traits, const memory_core& m, std::uint64_t n,
                parts::table_space& table) {
  if (!traits.table || c.table_slots != 0) return false;
  std::uint64_t elements = 0;
  for (std::uint32_t r = 0; r < max_regions; ++r) {
    table.first[r] = elements;
    if (r < m.region_count()) elements += m.regions().regions[r].length;
  }
  table.first[max_regions] = elements;
  // to clear them takes longer than a loop that accesses few
  constexpr std::uint64_t few = 16;
  const bool many = elements / few <= n * accesses_of_iteration(c);
  const std::uint64_t usual = many ? share_of_memory(*m.on(), usual_marks_bytes) : usual_marks_bytes;
  const std::uint64_t share = c.marks_bytes.value_or(usual);
  return elements <= share / (marks_of_element(traits) + head_of_element(traits));
}

/// Ranges of 2^shift elements, and room for offsets up to `most`. False if not all of them have a bit in a word, or an
/// index and an offset are more than 32 bits.
bool plan_ranges(const memory_core& m, std::uint32_t shift, std::uint64_t most, parts::element_ranges& ranges) {
  ranges.shift = shift;
  std::uint64_t used = 0;
  for (std::uint32_t r = 0; r < max_regions; ++r) {
    ranges.first[r] = static_cast<std::uint32_t>(used);
    if (r >= m.region_count()) continue;
    const std::uint64_t last = m.regions().regions[r].length - 1 + most;
    if (last > std::numeric_limits<std::uint32_t>::max()) return false;
    used += (last >> shift) + 1;
  }
  ranges.first[max_regions] = static_cast<std::uint32_t>(used);
  return used <= parts::element_ranges::most;
}
/// Ranges as short as they can be if all of them have a bit in a word; at most twice as long if they can move then, and
/// `may_move`.
parts::element_ranges plan_ranges(const memory_core& m, bool may_move) {
  parts::element_ranges ranges;
  std::uint32_t shortest = 0;
  while (shortest < 32 && !plan_ranges(m, shortest, 0, ranges)) ++shortest;
  if (shortest == 32) return {31, false, {}};  // all arrays share two: there are sixteen of more than 2^31 elements
  for (std::uint32_t shift = shortest; may_move && shift < 30 && shift <= shortest + 1; ++shift) {
    parts::element_ranges movable;
    movable.movable = true;
    if (plan_ranges(m, shift, (std::uint64_t{1} << shift) - 1, movable)) return movable;
  }
  return ranges;
}

/// Bytes that the logs of a window may have. Threads without an iteration in it are idle.
std::uint64_t share_of_logs(const loop_config& c, const parts::loop_log_space& logs, const backend& on,
                            std::uint32_t grid_threads) {
  if (c.log_bytes != 0) return c.log_bytes;
  return std::max(usual_log_bytes, std::min(logs.position_bytes() * grid_threads, share_of_memory(on, 0)));
}

/// A window such that its logs fit, and on a GPU the larger the better: its phases end at barriers. The windows
/// of a loop without violations are about equally large, and all threads run equally many iterations of one, so that
/// none wait.
std::uint32_t plan_window(const loop_config& c, const parts::loop_log_space& logs, bool hashed, std::uint64_t marked,
                          bool host, std::uint64_t n, std::uint32_t grid_threads) {
  constexpr std::uint64_t largest = parts::writer_table::positions - 1;
  if (c.window > largest)
    throw invalid_argument("a window of " + std::to_string(c.window) + " iterations: the limit is " +
                           std::to_string(largest));
  const std::uint64_t position = logs.position_bytes();
  std::uint64_t usual = host ? 1u << 14 : largest;
  // a hashed table in the L2 cache, a quarter full
  const std::uint64_t marks = std::max(c.table_slots != 0 ? c.table_slots : host ? most_slots_on_host : most_slots, 4u);
  if (hashed) usual = std::min<std::uint64_t>(usual, marks / 4 / marked);
  usual = std::max<std::uint64_t>(usual, 256);
  const std::uint64_t nodes = parts::loop_log_space::no_node / std::max(logs.writes, 1u);
  const std::uint64_t words = std::numeric_limits<std::uint32_t>::max() / logs.rows();  // that positions are told by
  const std::uint64_t fits = std::max<std::uint64_t>(1, std::min({c.log_bytes / position, nodes, words}));
  usual = std::min(usual, fits);
  if (usual > grid_threads) {
    const std::uint64_t at_most = usual / grid_threads, all = ceiling(n, grid_threads);
    usual = ceiling(all, ceiling(all, at_most)) * grid_threads;
  }
  return static_cast<std::uint32_t>(std::min({c.window != 0 ? c.window : usual, fits, n}));
}

std::uint32_t plan_table(const loop_config& c, std::uint32_t window, std::uint64_t marked, bool host) {
  if (c.table_slots != 0) {
    if (!std::has_single_bit(c.table_slots))
      throw invalid_argument("a table of " + std::to_string(c.table_slots) +
                             " slots: it must be a power of two (1, 2, 4, ...)");
    return c.table_slots;
  }
  const std::uint64_t wanted = std::uint64_t{window} * marked * 4;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::bit_ceil(wanted), 64, host ? most_slots_on_host : most_slots));
}

/// A loop of several windows has memory of its own for what a pass in place saves, unless that is more than it may
/// have; with keys if those fit, too, and then with what iterations have read, unless logs have room for that.
struct words_saved {
  std::uint64_t without_keys = 0;  ///< 0: it has none
  std::uint64_t keys = 0;
  std::uint64_t reads = 0;
};
words_saved plan_words_saved(const loop_sizes& s, const loop_config& c, const backend& on) {
  const std::uint64_t n = s.limits.iterations;
  const std::uint64_t share = c.log_bytes != 0 ? c.log_bytes : share_of_memory(on, usual_log_bytes);
  const auto words = [&](bool has_keys) {
    const std::uint64_t all = parts::saved_space::words(n, c.capacity.writes, s.logs.value_words, has_keys);
    return all <= parts::saved_space::most_words && all * sizeof(std::uint64_t) <= share ? all : 0;
  };
  if (n <= s.logs.window) return {};
  const std::uint64_t without_keys = words(false), with_keys = words(true);
  if (with_keys == 0) return {without_keys};
  if (!s.postpones) return {without_keys, with_keys - without_keys};
  const std::uint64_t reads = parts::postponed_space::words(n, s.logs.reads);
  const bool fit = !parts::postponed_space::has_room(s.logs, n, false) && reads <= parts::saved_space::most_words &&
                   (with_keys + reads) * sizeof(std::uint64_t) <= share;
  return {without_keys, with_keys - without_keys, fit ? reads : 0};
}
/// It lies from byte `at` on.
void plan_saved(loop_sizes& s, const words_saved& words, std::uint64_t at) {
  s.saved_at = s.saved_values_at = s.in_place_bytes = at;
  if (words.without_keys == 0) return;
  s.saved_positions = static_cast<std::uint32_t>(s.limits.iterations);
  s.saved_values_at += s.limits.iterations * sizeof(std::uint64_t);
  s.in_place_bytes += words.without_keys * sizeof(std::uint64_t);
  if (words.keys != 0) s.saved_keys_at = s.in_place_bytes;
  s.in_place_bytes += words.keys * sizeof(std::uint64_t);
  if (words.reads != 0) s.reads_at = s.in_place_bytes;
  s.in_place_bytes += words.reads * sizeof(std::uint64_t);
}
/// What passes in place need besides logs, which have been planned, and marks; elements have marks of their own.
void plan_in_place(loop_sizes& s, const loop_config& c, const device& on) {
  // more strays than that had better be deferred as all others; a loop of several windows has memory for fewer
  constexpr std::uint64_t some = 64, of_8 = 3;
  constexpr std::uint64_t sector = parts::stray_space::sector;
  // To run what is postponed takes some 20 microseconds for each access of an iteration: with 16 reads and writes 262
  // thousand random ones with dependences took an H200 0.91 ms, and in windows 0.62 to 0.72. On the host device tests
  // have as many as they like. Elements have numbers of 32 bits.
  const bool host = on.is_host();
  const std::uint64_t few_accesses = host ? 64 : 16;
  s.postpones = accesses_of_iteration(c) <= few_accesses && s.table.first[max_regions] < parts::postponed_space::end;
  const words_saved saved = plan_words_saved(s, c, *on);
  const bool has_saved = saved.without_keys != 0;
  const std::uint64_t entries = std::max(of_8 * s.logs.window, has_saved ? s.limits.iterations : 0) / 8 + some;
  s.strays.entries = static_cast<std::uint32_t>(entries);
  s.strays.value_words = s.logs.value_words;
  s.strays_at = ceiling(sizeof(parts::in_place_past), sector) * sector;
  s.roles_at = s.strays_at + entries * parts::stray_space::entry_words(s.strays.value_words) * sizeof(std::uint64_t);
  const std::uint64_t elements = s.table.first[max_regions];
  s.filter_at = s.roles_at + ceiling(elements, parts::in_place_space::in_word) * sizeof(std::uint32_t);
  s.filter_words = s.postpones ? host ? 4 : 1u << 15 : 0;  // half of what a multiprocessor's cache has room for
  const std::uint64_t end = s.filter_at + std::uint64_t{s.filter_words} * sizeof(std::uint32_t);
  plan_saved(s, saved, ceiling(end, sector) * sector);
  s.scout_from = scout_from(c);
  // Where iterations access rows, a warp has so many lines at hand, and those of all warps must fit into the cache of a
  // multiprocessor. Of longer rows each thread has as many lines at a time as of rows that are one line. Numbers of an
  // H100: 12 reads and writes take 0.09 ms with 768 threads, 0.16 with 1,152; 16 take 0.13 with 512, 0.39 with 1,152;
  // 64 take 0.56 with 384 or 448, 0.59 with 320 or 512, 0.75 with 192, 1.9 with 768; 5 do not care.
  // On the host device that is for tests, of which some are to have few threads and some are not.
  const std::uint32_t many_accesses = host ? 32 : 16, accesses_at_once = 1u << (host ? 8 : 14);
  const std::uint64_t fewest = host ? 1 : 384, accesses = accesses_of_iteration(c);
  if (accesses >= many_accesses)
    s.threads_in_place = static_cast<std::uint32_t>(std::max<std::uint64_t>(fewest, accesses_at_once / accesses));
}

}  // namespace

void check_iterations(std::int64_t n) {
  if (n < 0) throw invalid_argument("a loop of " + std::to_string(n) + " iterations: it can have 0 to 2^31 - 1");
  if (n > std::numeric_limits<std::int32_t>::max())
    throw invalid_argument("a loop of " + std::to_string(n) + " iterations: the limit is 2^31 - 1; split it");
}

std::uint64_t scout_from(const loop_config& c) {
  constexpr std::uint64_t many = 32;
  return accesses_of_iteration(c) < many ? c.scout_from : c.scout_from - c.scout_from / 2;
}

void check_arrays(const loop_sizes& s, const memory_core& m) {
  check_memory(s.memory, m);
  if (m.region_count() != s.arrays)
    throw invalid_argument("the memory has " + std::to_string(m.region_count()) + " arrays, and had " +
                           std::to_string(s.arrays) + " when the workspace was made: make it after the arrays");
}

loop_sizes plan_loop(const loop_config& asked, const loop_traits& traits, const memory_core& m, std::uint64_t n,
                     std::uint32_t grid_threads) {
  loop_config c = asked;
  check_capacity(c.capacity);
  if (c.smallest_window == 0) throw invalid_argument("smallest_window is 0: a window has at least one iteration");
  if (c.longest_iteration == 0)
    throw invalid_argument("longest_iteration is 0: an iteration may do one load or store at least");
  if (c.tags < 3 || c.tags > parts::writer_table::tags)
    throw invalid_argument("tags is " + std::to_string(c.tags) + ": it can be 3 to " +
                           std::to_string(parts::writer_table::tags));
  if (c.repairs > parts::position_status::versions)
    throw invalid_argument("repairs is " + std::to_string(c.repairs) + ": it can be 0 to " +
                           std::to_string(parts::position_status::versions));
  const bool host = m.on().is_host();
  loop_sizes s;
  s.logs.reads = traits.writers ? c.capacity.reads : 0;  // those who mark writers only check what they have read
  s.logs.writes = c.capacity.writes;
  s.logs.value_words = (m.largest_element() + 7) / 8;
  s.logs.window = 1;
  if (s.logs.rows() > std::numeric_limits<std::uint32_t>::max())
    throw invalid_argument("a log of " + std::to_string(s.logs.rows()) + " words of 8 bytes for each iteration: the " +
                           "limit is 2^32 - 1; use a smaller capacity, or smaller elements");
  const bool hashed = !plan_marks(c, traits, m, n, s.table);
  s.ranges = plan_ranges(m, traits.writers && !hashed);  // marks tell where, if elements have their own
  const std::uint64_t marked = marked_by_iteration(c, traits);
  c.log_bytes = share_of_logs(c, s.logs, *m.on(), grid_threads);
  if (traits.logs)
    s.logs.window = plan_window(c, s.logs, hashed, marked, host, std::max<std::uint64_t>(n, 1), grid_threads);
  if (hashed && traits.table) s.table.slots = plan_table(c, s.logs.window, marked, host);
  const std::uint64_t entries = hashed ? s.table.slots : s.table.first[max_regions];
  static_assert(sizeof(parts::writer_entry) == sizeof(parts::owner_entry));
  s.heads_at = entries * (hashed ? sizeof(parts::writer_entry) : marks_of_element(traits));
  s.contested_at = s.heads_at + entries * head_of_element(traits);
  s.table_bytes = s.contested_at + (traits.writers ? std::uint64_t{s.logs.window} * sizeof(std::uint32_t) : 0);
  s.links_at = s.logs.rows() * s.logs.window * sizeof(std::uint64_t);
  s.log_bytes = s.links_at + (traits.writers ? s.logs.nodes() * sizeof(std::uint32_t) : 0);
  const std::uint32_t long_reads = host ? 8 : 256;  // few on a host, for tests
  if (traits.joins && c.repairs != 0 && !hashed && c.capacity.reads >= long_reads) {
    s.limits.joint = grid_threads;
    s.joint_at = ceiling(s.log_bytes, 128) * 128;
    s.log_bytes = s.joint_at + parts::joint_space::bytes() + parts::left_out_list::bytes(grid_threads);
  }
  s.memory = m.regions().memory;
  s.arrays = m.region_count();
  s.limits.iterations = n;
  if (traits.in_place && c.in_place && !hashed) plan_in_place(s, asked, m.on());
  constexpr std::uint32_t countable = std::numeric_limits<std::uint32_t>::max() - 1;
  s.limits.operations = static_cast<std::uint32_t>(std::min<std::uint64_t>(c.longest_iteration, countable));
  s.limits.window = s.logs.window;
  s.limits.first_window = std::min(s.logs.window, c.first_window != 0 ? c.first_window
                                                  : c.adapt           ? std::max(grid_threads, 32u)
                                                                      : s.logs.window);
  s.limits.first_may_be_all = c.first_window == 0 && c.repairs != 0 && traits.repairs;
  s.limits.smallest = std::min(c.smallest_window, s.logs.window);
  s.limits.stretch = c.stretch;
  s.limits.repairs = c.repairs;
  s.limits.most_again = c.most_again.value_or(host ? 0 : std::max(grid_threads / 2, 1u));
  s.limits.tags = c.tags;
  s.limits.adapt = c.adapt;
  s.limits.overlap = c.overlap;
  s.limits.peek = c.peek;
  s.limits.patience = c.patience;
  const bool may_time = c.adapt && c.stretch != 0;
  s.limits.timed = may_time && c.timed.value_or(traits.repairs && !host);  // a host's threads are simulated
  s.limits.repair_whole = c.repair_whole.value_or(!host);  // a barrier of a GPU takes as long as thousands of runs
  return s;
}

void throw_out_of_memory(const loop_sizes& s, const loop_config& c, const out_of_memory& e) {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  const bool told = c.table_slots != 0;
  throw out_of_memory(std::string(e.what()) + "; this was for a speculative loop: marks of elements need " +
                      text(s.table_bytes) + " bytes" + (told ? ", with table_slots " + text(c.table_slots) : "") +
                      ", and logs of " + text(s.limits.window) + " iterations at a time " + text(s.log_bytes) +
                      ", with a capacity of " + text(c.capacity.reads) + " reads and " + text(c.capacity.writes) +
                      " writes; lower " + (told ? "table_slots, " : "") + "capacity or window, or free arrays");
}

pass_grid plan_pass(const launch_shape& loops, std::uint32_t threads_of_multiprocessor, const device& on,
                    std::uint64_t n) {
  constexpr std::uint32_t most_threads = 96;            // of a block
  constexpr std::uint32_t most_threads_on_host = 4096;  // each has a stack
  constexpr std::uint32_t last_blocks = 16;             // of a multiprocessor of a GPU; an H100's holds 12 to 16
  pass_grid grid{loops, 0};
  launch_shape& shape = grid.shape;
  shape.threads = std::min(shape.threads, most_threads);
  shape.clients = static_cast<std::uint32_t>(ceiling(n, shape.threads));
  if (threads_of_multiprocessor != 0) {
    const std::uint32_t blocks = std::max(1u, threads_of_multiprocessor / shape.threads) * on->multiprocessors();
    shape.clients = std::min(shape.clients, blocks);
  } else {
    const std::uint32_t last = on->multiprocessors() * (on.is_host() ? 1 : last_blocks);
    grid.twice = shape.clients > last ? (shape.clients - last) / 2 : 0;
    shape.clients -= grid.twice;
  }
  const std::uint32_t on_host = std::max(1u, most_threads_on_host / shape.threads);
  if (on.is_host() && shape.clients > on_host) {
    grid.twice = 0;
    shape.clients = on_host;
  }
  return grid;
}

loop_statistics collect_loop(const stream& s, const memory_core& m, const void* control, const void* state) {
  auto c = std::make_unique<parts::control>();
  auto l = std::make_unique<parts::loop_state>();
  m.on()->copy_from_device(s.handle(), c.get(), control, sizeof *c);
  m.on()->copy_from_device(s.handle(), l.get(), state, sizeof *l);
  s.synchronize();
  if (c->fault_kind != 0) throw_fault(*c, m, true);
  const parts::loop_counters& from = l->counters;
  loop_statistics stats;
  stats.iterations = from.iterations;
  stats.rounds = from.rounds;
  stats.checked = from.checked;
  stats.executed = from.executed;
  stats.serial = from.serial;
  stats.in_place = from.in_place;
  stats.forwarded = from.forwarded;
  std::copy(std::begin(from.violations), std::end(from.violations), stats.violations.begin());
  return stats;
}

}  // namespace gputm::detail
