#include "loop_exploration.hpp"

#include "exploration.hpp"
#include "loops/workload.hpp"

namespace gputm::cli {
namespace {

struct explored_loop {
  std::string name;
  workloads::any_loop (*make)(std::uint64_t index);
};

std::int64_t few_iterations(std::uint64_t index) { return 2 + static_cast<std::int64_t>(index / 2 % 11); }

workloads::any_loop tiny_loop(std::uint64_t index) {
  using enum workloads::dependence;
  static constexpr workloads::dependence kinds[] = {raw, none, war, waw, raw};
  workloads::synthetic_options o;
  o.iterations = few_iterations(index);
  o.reads = o.writes = 1 + static_cast<std::uint32_t>(index / 3 % 3);
  o.work = 1;
  o.kind = kinds[index % std::size(kinds)];
  o.percent = 60;
  o.distance = 1 + static_cast<std::uint32_t>(index / 5 % 4);
  o.random = index / 7 % 2 != 0;
  o.seed = index;
  return workloads::synthetic_problem(o);
}
workloads::any_loop tiny_shuffle(std::uint64_t index) {
  return workloads::shuffle_problem({few_iterations(index), index});
}
workloads::any_loop tiny_colouring(std::uint64_t index) {
  workloads::colouring_options o;
  o.iterations = few_iterations(index);
  o.graph = index % 2 == 0 ? "rmat" : "grid";
  o.edges_per_vertex = 2;
  o.seed = index;
  o.random_order = index / 3 % 2 != 0;
  return workloads::colouring_problem(o);
}

const std::vector<explored_loop>& tiny_loops() {
  static const std::vector<explored_loop> all = {
      {"loop", tiny_loop}, {"shuffle", tiny_shuffle}, {"colouring", tiny_colouring}};
  return all;
}

}  // namespace

const std::vector<std::string>& explored_loops() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const explored_loop& l : tiny_loops()) n.push_back(l.name);
    return n;
  }();
  return names;
}

finding explore_loop(const algorithm_entry& engine, const std::string& workload, const host::config& schedule,
                     std::uint64_t index) {
  const auto loop =
      std::find_if(tiny_loops().begin(), tiny_loops().end(), [&](const auto& l) { return l.name == workload; });
  const workloads::prepared_loop prepared(loop->make(index));
  workloads::loop_options o;
  o.blocks = grid_of(index).blocks;
  o.threads = grid_of(index).threads;
  o.window = index % 3 == 0 ? 0 : 1 + static_cast<std::uint32_t>(index / 3 % 9);
  o.earlier_loops = static_cast<std::uint32_t>(index / 4 % 3);
  device d = host_device(schedule);
  workloads::measurement m;
  finding f;
  f.what = failure_of([&] { m = engine.speculate(d, prepared, o); });
  if (f.what.empty() && !m.ok) f.what = m.invariant;
  f.stale_reads = last_report(d).stale_reads;
  return f;
}

}  // namespace gputm::cli
