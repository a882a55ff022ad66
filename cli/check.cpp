#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>

#include "commands.hpp"
#include "loop_exploration.hpp"
#include "table.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using std::chrono::steady_clock;

/// A workload and who runs it.
struct explored_pair {
  std::string workload;
  const algorithm_entry* by;
  std::function<finding(const host::config&, std::uint64_t index)> explore;  ///< null if it cannot be explored
};

host::config schedule_of(const check_request& r, std::uint64_t index) {
  host::config base;
  base.weak_memory = r.weak;
  base.stack_bytes = 128 * 1024;
  base.warp_width = 4;
  return host::portfolio(base, r.seed, index, 2);
}

std::string replay(const check_request& r, const explored_pair& of, std::uint64_t index) {
  return fmt::format("gputm check --algorithm {} --workload {} --seed {} --weak {} --schedules 1 --first {}",
                     of.by->name, of.workload, r.seed, r.weak ? "on" : "off", index);
}

/// The workloads that are explored, in the order of registration.
std::vector<std::string> explored_workloads() {
  std::vector<std::string> names;
  for (const exploration_entry& e : explorations())
    if (std::find(names.begin(), names.end(), e.workload) == names.end()) names.emplace_back(e.workload);
  names.insert(names.end(), explored_loops().begin(), explored_loops().end());
  return names;
}
bool is_loop(const std::string& workload) {
  const auto& loops = explored_loops();
  return std::find(loops.begin(), loops.end(), workload) != loops.end();
}
std::vector<std::string> chosen_workloads(const std::string& text) {
  const std::vector<std::string> all = explored_workloads();
  std::vector<std::string> chosen;
  for (const std::string& name : split(text, ',')) {
    if (name == "all") {
      chosen.insert(chosen.end(), all.begin(), all.end());
    } else if (std::find(all.begin(), all.end(), name) != all.end()) {
      chosen.push_back(name);
    } else {
      throw usage_error("no workload is called '" + name + "' that can be explored; there are " + join(all, ", "));
    }
  }
  return chosen;
}

class exploring {
  const check_request& r_;
  progress progress_;
  table table_;
  std::ofstream dump_;
  bool failed_ = false;
  std::size_t ran_ = 0;
  std::string reason_;

 public:
  exploring(const check_request& r, std::size_t pairs)
      : r_(r),
        progress_(pairs),
        table_({{"workload", 17, true},
                {"algorithm", 21, true},
                {"schedules", 0},
                {"failures", 0},
                {"stale reads", 0},
                {"seconds", 7}},
               false) {
    if (r.dump.empty()) return;
    dump_.open(r.dump, std::ios::app);  // what is there is kept until there is something to write
    if (!dump_) throw usage_error("--dump '" + r.dump + "' cannot be written");
  }

  void run(const explored_pair& p) {
    if (!p.explore) {
      reason_ =
          fmt::format("{} under {} cannot be explored{}", p.workload, p.by->name,
                      is_loop(p.workload) == (p.by->speculate != nullptr)
                          ? p.by->host_only ? ": it runs on CPU threads, whose schedules are the machine's" : ""
                          : ": loop engines run " + join(explored_loops(), ", ") + ", algorithms the other workloads");
      table_.row({p.workload, std::string(p.by->name), "n/a", "", "", ""});
      progress_.step("");
      return;
    }
    ++ran_;
    explore(p);
  }

  bool has_failed() const { return failed_; }
  int finish() {
    progress_.clear();
    if (ran_ == 0) throw usage_error(reason_);
    return failed_ ? broken : all_held;
  }

 private:
  void explore(const explored_pair& e) {
    progress_.step(fmt::format("{}: {}", e.workload, e.by->name));
    const auto start = steady_clock::now();
    auto shown = start;
    std::uint64_t tried = 0, stale = 0;
    finding f;
    for (; tried < r_.schedules && f.what.empty(); ++tried) {
      f = e.explore(schedule_of(r_, r_.first + tried), r_.first + tried);
      stale += f.stale_reads;
      if (const auto now = steady_clock::now(); now - shown > std::chrono::milliseconds(200)) {
        shown = now;
        progress_.note(fmt::format("{}: {}, schedule {}", e.workload, e.by->name, tried + 1));
      }
    }
    progress_.clear();
    const double seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
    const bool failed = !f.what.empty();
    table_.row({e.workload, std::string(e.by->name), std::to_string(tried), failed ? "1" : "0", std::to_string(stale),
                fmt::format("{:.1f}", seconds)});
    if (failed) tell(e, f, r_.first + tried - 1);
  }
  /// At once: whatever becomes of the pairs that follow, it can be replayed. The first failing history is dumped.
  void tell(const explored_pair& e, const finding& f, std::uint64_t index) {
    failed_ = true;
    const host::config schedule = schedule_of(r_, index);
    fmt::print("\n{} under {}: {}\n  schedule {} of seed {}: {}, {} lanes in a warp\n  replay: {}\n\n", e.workload,
               e.by->name, f.what, index, r_.seed, host::name(schedule.schedule), schedule.warp_width,
               replay(r_, e, index));
    std::fflush(stdout);
    if (!dump_.is_open() || f.record.transactions.empty()) return;
    try {
      std::error_code none;  // what is no file cannot be cut off
      std::filesystem::resize_file(r_.dump, 0, none);
      history::write(dump_, f.record);
      dump_.close();
    } catch (const std::ios_base::failure&) {
      complain("--dump '" + r_.dump + "' could not be written to the end");
    }
  }
};

/// Who explores: each named one, or all of both kinds that isolate, since what nothing isolates fails, and is to. A
/// name may be one of each.
std::vector<const algorithm_entry*> chosen_of_both(const std::string& text) {
  std::vector<const algorithm_entry*> chosen;
  std::vector<std::string> names;
  for (const auto* kind : {&algorithms(), &engines()})
    for (const algorithm_entry& a : *kind) names.emplace_back(a.name);
  for (const std::string& name : split(text, ',')) {
    const std::size_t before = chosen.size();
    for (const auto* kind : {&algorithms(), &engines()})
      for (const algorithm_entry& a : *kind)
        if (name == a.name || (name == "all" && a.traits.isolated)) chosen.push_back(&a);
    if (chosen.size() == before)
      throw usage_error(
          fmt::format("no algorithm or loop engine is called '{}'; there are {}", name, join(names, ", ")));
  }
  return chosen;
}
bool names_all(const std::string& text) {
  const std::vector<std::string> names = split(text, ',');
  return std::find(names.begin(), names.end(), "all") != names.end();
}

/// Loops run under loop engines, other workloads under algorithms. Other pairs that have been asked for by name cannot
/// be explored, but a name of both kinds is the one that can.
std::vector<explored_pair> pairs_of(const check_request& r) {
  const std::vector<const algorithm_entry*> chosen = chosen_of_both(r.algorithm);
  const bool named = !names_all(r.algorithm) && !names_all(r.workload);
  std::vector<explored_pair> pairs;
  for (const std::string& w : chosen_workloads(r.workload))
    for (const algorithm_entry* a : chosen) {
      const bool fits = is_loop(w) == (a->speculate != nullptr);
      const bool other_fits = std::any_of(chosen.begin(), chosen.end(), [&](const algorithm_entry* b) {
        return b->name == a->name && is_loop(w) == (b->speculate != nullptr);
      });
      if (!fits && (!named || other_fits)) continue;
      explored_pair p{w, a, nullptr};
      if (fits && is_loop(w))
        p.explore = [a, w](const host::config& c, std::uint64_t index) { return explore_loop(*a, w, c, index); };
      else if (const exploration_entry* e = find_exploration(a->name, w); fits && e)
        p.explore = e->explore;
      pairs.push_back(std::move(p));
    }
  return pairs;
}

}  // namespace

int check(const check_request& r) {
  const std::vector<explored_pair> pairs = pairs_of(r);
  exploring all(r, pairs.size());
  try {
    for (const explored_pair& p : pairs) all.run(p);
  } catch (const std::exception& e) {  // what has been found counts
    if (!all.has_failed()) throw;
    complain(e.what());
  }
  return all.finish();
}

}  // namespace gputm::cli
