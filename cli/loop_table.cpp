#include "loop_table.hpp"

#include <algorithm>
#include <limits>

#include "loops/workload.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using workloads::measurement;

constexpr std::uint64_t most_iterations = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t most_accesses = 4096;
constexpr std::int64_t warm_up_iterations = 4096;

std::vector<setting> with_common(std::vector<setting> own, const char* iterations, const char* what) {
  std::vector<setting> all{whole_setting("iterations", iterations, 0, most_iterations, what)};
  for (setting& s : own) all.push_back(std::move(s));
  all.push_back(choice_setting("window", 1, parts::writer_table::positions - 1,
                               "iterations under speculation at a time; auto: gputm chooses"));
  all.push_back(whole_setting("earlier-loops", "0", 0, 1000,
                              "the same loop on the same data, run before in its workspace, which may learn from it"));
  all.push_back(word_setting("launches", {"included", "queued"},
                             "seconds of a GPU with the host's calls, or of what waits in its queue already"));
  return all;
}
setting dependence_percent(const char* help) { return real_setting("dependence-percent", "1", 0, 100, help); }
setting dependence_distance() {
  return whole_setting("dependence-distance", "1024", 1, most_iterations,
                       "how many iterations before that one is, at most");
}

// ---- each loop's settings, and its problem at a point

std::vector<setting> synthetic_settings() {
  return {
      whole_setting("reads", "5", 0, most_accesses, "of an iteration"),
      whole_setting("writes", "5", 1, most_accesses, "of an iteration"),
      whole_setting("work", "10", 0, 1'000'000, "multiply-adds for each value written"),
      word_setting("dependence", {"none", "war", "waw", "raw"}, "kind of dependences between iterations"),
      dependence_percent("percent of the iterations that depend on an earlier one"),
      dependence_distance(),
      word_setting("addresses", {"streaming", "random"}, "the elements that iterations touch ascend, or are anywhere")};
}
workloads::any_loop synthetic(const point& p, std::int64_t n) {
  workloads::synthetic_options o;
  o.iterations = n;
  o.reads = p.whole32("reads");
  o.writes = p.whole32("writes");
  o.work = p.whole32("work");
  o.kind = static_cast<workloads::dependence>(p.whole("dependence"));
  o.percent = p.real("dependence-percent");
  o.distance = p.whole32("dependence-distance");
  o.random = p.whole("addresses") != 0;
  o.seed = p.whole("seed");
  return workloads::synthetic_problem(o);
}

std::vector<setting> molecular_dynamics_settings() {
  return {real_setting("partners", "0.02", 0, 2, "of an atom, on average: pairs within the cut-off")};
}
workloads::any_loop molecular_dynamics(const point& p, std::int64_t n) {
  return workloads::molecular_dynamics_problem({n, p.real("partners"), p.whole("seed")});
}

std::vector<setting> cfd_settings() {
  return {dependence_percent("percent of the edges that share a node with an earlier one"), dependence_distance()};
}
workloads::any_loop cfd(const point& p, std::int64_t n) {
  return workloads::cfd_problem({n, p.real("dependence-percent"), p.whole32("dependence-distance"), p.whole("seed")});
}

std::vector<setting> black_scholes_settings() {
  return {real_setting("errors", "0", 0, 100, "percent of the options whose price comes out wrong, which is counted")};
}
workloads::any_loop black_scholes(const point& p, std::int64_t n) {
  return workloads::black_scholes_problem({n, p.real("errors"), p.whole("seed")});
}

std::vector<setting> colouring_settings() {
  return {text_setting("graph", "rmat", "rmat, grid or a Matrix Market file, which has its own number of vertices"),
          whole_setting("edges-per-vertex", "8", 1, 1024, "of an RMAT graph"),
          word_setting("order", {"natural", "random"}, "of the vertices: as they are drawn or in the file, or random")};
}
/// A graph from a file has its own number of vertices, and only an RMAT graph is drawn with so many edges.
void settle_graphs(const std::map<std::string, std::string>& given, std::vector<axis>& axes) {
  const auto graphs = std::find_if(axes.begin(), axes.end(), [](const axis& a) { return a.setting.name == "graph"; });
  const auto has = [&](std::string_view kind) {
    return std::any_of(graphs->values.begin(), graphs->values.end(), [&](const value& v) { return v.text == kind; });
  };
  const bool of_files = !has("rmat") && !has("grid");
  if (given.count("edges-per-vertex") && !has("rmat"))
    throw usage_error("--edges-per-vertex is of RMAT graphs, and none of the chosen ones is");
  if (given.count("iterations") && of_files)
    throw usage_error("--iterations is of generated graphs: a file tells its own number of vertices");
  if (of_files)
    std::erase_if(axes,
                  [](const axis& a) { return a.setting.name == "iterations" || a.setting.name == "edges-per-vertex"; });
}
workloads::any_loop colouring(const point& p, std::int64_t n) {
  return workloads::colouring_problem(
      {n, p.text("graph"), p.whole32("edges-per-vertex"), p.whole("seed"), p.whole("order") != 0});
}

workloads::any_loop shuffle(const point& p, std::int64_t n) { return workloads::shuffle_problem({n, p.whole("seed")}); }

// ---- running one

using maker = workloads::any_loop (*)(const point&, std::int64_t);

/// The problem of a point. The last one is kept: engines and repetitions at one point share its data and its run on
/// one CPU core, which can take longer than all the others.
const workloads::prepared_loop& prepared(maker make, const point& p) {
  static std::string last;
  static std::unique_ptr<workloads::prepared_loop> loop;
  std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(make));
  constexpr std::string_view of_the_run[] = {"blocks",   "threads",    "window",    "earlier-loops",
                                             "launches", "warp-width", "os-threads"};
  for (const point::entry& e : p.entries)
    if (std::find(std::begin(of_the_run), std::end(of_the_run), e.name) == std::end(of_the_run))
      key += " " + e.name + "=" + e.value.text;
  if (!loop || key != last) {
    loop.reset();  // two of them may be too large
    loop = std::make_unique<workloads::prepared_loop>(make(p, static_cast<std::int64_t>(p.whole("iterations"))));
    last = key;
  }
  return *loop;
}

template <maker Make>
measurement run(const algorithm_entry& a, const device& d, const point& p, effort e) {
  workloads::loop_options o;
  o.blocks = p.whole32("blocks");
  o.threads = p.whole32("threads");
  o.window = p.whole32("window");
  o.earlier_loops = e == effort::full ? p.whole32("earlier-loops") : 0;
  o.queued = p.whole("launches") != 0;
  if (e == effort::full) return a.speculate(d, prepared(Make, p), o);
  o.compare = false;
  if (const std::string graph = p.text("graph"); !graph.empty() && graph != "rmat" && graph != "grid")
    return a.speculate(d, prepared(Make, p), o);  // a file is read once: it may be long, or a pipe
  const auto n = std::min(static_cast<std::int64_t>(p.whole("iterations")), warm_up_iterations);
  return a.speculate(d, workloads::prepared_loop(Make(p, n)), o);
}

std::string why_not(const algorithm_entry& a) { return a.speculate ? "" : "it is no loop engine"; }

template <maker Make>
workload_entry entry(const char* name, const char* about, std::vector<setting> settings, const char* iterations,
                     const char* what) {
  return {name, about, with_common(std::move(settings), iterations, what), false, why_not, run<Make>, true};
}

}  // namespace

std::vector<workload_entry> loop_workloads() {
  workload_entry colours = entry<colouring>("colouring", "greedy colouring of a graph, vertex after vertex",
                                            colouring_settings(), "8192", "vertices of a generated graph");
  colours.settle = settle_graphs;
  return {
      entry<synthetic>("loop", "a loop of reads and writes through index arrays, with dependences as wanted",
                       synthetic_settings(), "7168", "of the loop"),
      entry<molecular_dynamics>("molecular_dynamics", "forces between the atoms of a dilute gas",
                                molecular_dynamics_settings(), "8192", "atoms"),
      entry<cfd>("cfd", "fluxes over the edges of a mesh", cfd_settings(), "8192", "edges"),
      entry<black_scholes>("black_scholes", "prices of European options, and the number of wrong ones",
                           black_scholes_settings(), "8192", "options to price"),
      std::move(colours),
      entry<shuffle>("shuffle", "a random permutation, by Knuth's shuffle", {}, "8192", "elements"),
  };
}

}  // namespace gputm::cli
