#include "cycle.hpp"

#include <algorithm>
#include <utility>

namespace gputm::history::detail {
namespace {

step make_step(const polygraph& p, id from, id between, id to) {
  if (between == none) return {step::kind::direct, from, to, none, none};
  if (!p.is_end(between)) return {step::kind::real_time, from, to, none, none};
  const id before = between - p.ends;
  id after = p.group_begin[p.group_of[before]];
  while (p.segments[after].first != to) ++after;
  return {step::kind::segments, from, to, before, after};
}

}  // namespace

std::vector<step> steps_of(const polygraph& p, std::vector<id> cycle) {
  const auto is_transaction = [&](id node) { return node < p.transactions; };
  std::rotate(cycle.begin(), std::find_if(cycle.begin(), cycle.end(), is_transaction), cycle.end());
  std::vector<step> steps;
  for (std::size_t i = 0; i < cycle.size();) {
    std::size_t next = i + 1;
    while (next < cycle.size() && !is_transaction(cycle[next])) ++next;
    const id between = next == i + 1 ? none : cycle[i + 1];
    steps.push_back(make_step(p, cycle[i], between, next < cycle.size() ? cycle[next] : cycle.front()));
    i = next;
  }
  return steps;
}

bool ordered_by_time(const history& h, const polygraph& p, id before, id after) {
  const id ended = p.segments[before].due_by, began = p.segments[after].released_by;
  return ended != none && began != none && h.transactions[ended].end < h.transactions[began].begin;
}

std::vector<id> timed_by(const history& h, const polygraph& p, const std::vector<id>& cycle) {
  std::vector<id> found;
  for (const step& s : steps_of(p, cycle)) {
    if (s.how == step::kind::real_time)
      found.insert(found.end(), {s.from, s.to});
    else if (s.how == step::kind::segments && ordered_by_time(h, p, s.before, s.after))
      found.insert(found.end(), {p.segments[s.before].due_by, p.segments[s.after].released_by});
  }
  return found;
}

}  // namespace gputm::history::detail
