// What does not depend on types: counters, faults, capacities, decoding of histories.
#include "gputm/workspace.hpp"

namespace gputm::detail {

statistics read_counters(const parts::control& c) {
  statistics s;
  for (const parts::counter_block& b : c.counters) {
    s.commits += b.commits;
    s.read_only_commits += b.read_only_commits;
    s.read_only_aborts += b.read_only_aborts;
    for (std::size_t r = 0; r < abort_reasons; ++r) s.aborts[r] += b.aborts[r];
    for (std::size_t p = 0; p < phases; ++p) s.phase_ns[p] += b.phase_ns[p];
  }
  return s;
}

namespace {

[[noreturn]] void throw_by_kind(const parts::control& c, const memory_core& m, bool loop) {
  using parts::fault;
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  const std::string who = loop ? " (iteration " + text(c.input) + ")"
                               : " (input or call " + text(c.input) + " of thread " + text(c.thread) + ")";
  const std::string it = loop ? "the iteration" : "the transaction";
  const std::string where = m.region_name(c.region);
  switch (static_cast<fault>(c.fault_kind)) {
    case fault::read_capacity:
      throw capacity_exceeded("read set full in " + where + ": " + it + " touches about " + text(c.a) +
                              " elements, the capacity is " + text(c.b) + " (reads + writes), " + text(c.a - c.b) +
                              " too few" + who + "; raise capacity.reads");
    case fault::write_capacity:
      throw capacity_exceeded("write set full in " + where + ": " + it + " needs about " + text(c.a) +
                              " entries, the capacity is " + text(c.b) + ", " + text(c.a - c.b) + " too few" + who +
                              "; raise capacity.writes");
    case fault::out_of_range:
      throw index_out_of_range("index " + std::to_string(static_cast<std::int64_t>(c.a)) + " in " + where +
                               ", which has " + text(c.b) + " elements" + who);
    case fault::wrong_memory:
      throw invalid_argument(
          (c.a == 0 ? "a body used an array that no memory has allocated (array<T>{})"
                    : "a body used an array of another memory (number " + text(c.a) + ", and not " + text(c.b) + ")") +
          who + "; all arrays of a body belong to the memory that it runs on");
    case fault::store_in_read_only:
      throw read_only_violation("a body stored to element " + text(c.a) + " of " + where +
                                " although it called this input read-only" + who);
    case fault::no_progress:
      throw no_progress("nothing committed for " + text(c.a / 1'000'000) +
                        " ms, the limit of this launch; the transaction that gave up " +
                        (c.b ? "kept returning retry" : "kept aborting") + who +
                        "; raise patience.stuck_ns if it only needs longer");
    case fault::clock_exhausted:
      throw error("the global clock of this memory has no stamps left after " + text(c.a) +
                  "; split the launch: the clock starts over between launches");
    case fault::history_full:
      throw capacity_exceeded("the history recorder has " + text(c.a) + " words a thread and is full" + who +
                              "; raise history_words");
    case fault::cancel_after_store:
      throw invalid_argument("a body stored and then did not commit, under an algorithm that stores in place" + who +
                             "; decide to cancel before the first store");
    case fault::runaway:
      throw no_progress("one iteration did more than " + text(c.a) + " loads and stores, the limit of this loop" + who +
                        "; raise longest_iteration if it only needs more");
    case fault::retry_in_loop:
      throw no_progress("the body of a loop returned retry, or a conflict that no load or store reported" + who +
                        ": what comes before an iteration has happened already, so there is nothing to wait for");
    case fault::break_in_doall:
      throw invalid_argument("a body ended a loop that runs without speculation, where later iterations may have run" +
                             who + "; use an engine that keeps the order");
    default: throw error("a launch failed for unknown reason " + text(c.fault_kind) + who);
  }
}

}  // namespace

void throw_fault(const parts::control& c, const memory_core& m, bool loop) {
  try {
    throw_by_kind(c, m, loop);
  } catch (error& e) {
    if (loop) e.set_iteration(c.input);
    throw;
  }
}

std::uint32_t checked_shared_bytes(const char* algorithm, std::size_t bytes, std::uint32_t writes, const backend& d) {
  if (bytes > d.shared_bytes_of_block())
    throw invalid_argument(std::string(algorithm) + " needs " + std::to_string(bytes) +
                           " bytes of shared memory for a record of two commits of " + std::to_string(writes) +
                           " writes, and a block on " + d.name() + " can have " +
                           std::to_string(d.shared_bytes_of_block()) +
                           "; lower capacity.writes, or use an algorithm that keeps its record in global memory");
  return static_cast<std::uint32_t>(bytes);
}

void check_memory(std::uint32_t made_for, const memory_core& m) {
  (void)*m.on();  // throws if it has been moved from, which keeps its number
  if (m.regions().memory != made_for)
    throw invalid_argument("a workspace of memory number " + std::to_string(made_for) + " used with memory number " +
                           std::to_string(m.regions().memory) + ": make one for each memory");
}

void check_elements(std::uint32_t largest, const memory_core& m) {
  if (m.largest_element() > largest)
    throw invalid_argument("the memory has elements of " + std::to_string(m.largest_element()) +
                           " bytes, and had none " + "of more than " + std::to_string(largest) +
                           " when the workspace was made: make it after the arrays");
}

parts::log_space plan_logs(const gputm::capacity& c, const memory_core& m) {
  const std::uint32_t largest = m.largest_element();
  const std::uint64_t payload = largest > 8 ? std::uint64_t{c.writes} * ((largest + 7) / 8) : 0;
  constexpr std::uint64_t most = 0xffffffu;
  if (payload > most)
    throw invalid_argument(
        "capacity for " + std::to_string(c.writes) + " writes of " + std::to_string(largest) + " bytes: the limit is " +
        std::to_string(most) + " words of 8 bytes for what a transaction writes, so " +
        std::to_string(most / ((largest + 7) / 8)) + " writes; lower capacity.writes, or use smaller elements");
  return parts::log_space::layout({c.reads, c.writes, static_cast<std::uint32_t>(payload)});
}

void decode_history(const std::vector<std::uint64_t>& words, std::uint64_t capacity, history::history& into) {
  using recorder = history_recorder;
  for (std::uint64_t thread = 0; capacity != 0 && thread < words.size() / capacity; ++thread) {
    const std::uint64_t* slice = words.data() + thread * capacity;
    for (std::uint64_t at = 1; at < slice[0];) {
      history::transaction t;
      t.begin = slice[at];
      t.end = slice[at + 1];
      t.thread = static_cast<std::uint32_t>(thread);
      t.how = static_cast<history::transaction::ended>(slice[at + 2] >> 32);
      const auto accesses = static_cast<std::uint32_t>(slice[at + 2]);
      at += recorder::header_words;
      for (std::uint32_t k = 0; k < accesses; ++k, at += recorder::access_words)
        t.accesses.push_back({static_cast<std::uint32_t>(slice[at] >> 32 & 255), static_cast<std::uint32_t>(slice[at]),
                              slice[at + 1], (slice[at] >> 63) != 0});
      into.transactions.push_back(std::move(t));
    }
  }
}

}  // namespace gputm::detail
