// The graph is kept in topological order while edges are added and removed (Pearce and Kelly, ACM JEA 11, 2006). Only
// pairs of segments that the current order interleaves are looked at. Of such a pair, an order that would close a cycle
// is out; when both are possible one is chosen, which is a decision; when both are out, the search goes back to the
// latest decision that has a part in it and takes the opposite. Once no pair is interleaved, the topological order
// is a serial order that explains the history: pairs that were never looked at are in order too.
#include "search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gputm::history::detail {
namespace {

using levels = std::vector<id>;  // sorted numbers of decisions

levels merge(const levels& a, const levels& b) {
  levels both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// One segment's end comes before the other's first transaction.
struct choice {
  id before = none, after = none;
  levels because;  // decisions it rests on, or its own if it is one; none: it always holds
};

class solver {
 public:
  solver(const polygraph& p, std::vector<id> position, std::uint64_t bound)
      : p_(p),
        fixed_in_(reversed(p.out)),
        position_(std::move(position)),
        bound_(bound),
        out_(p.segments.size()),
        in_(p.transactions),
        parent_(p.nodes()),
        via_(p.nodes()),
        seen_(p.nodes(), 0),
        place_(p.segments.size()),
        queued_(p.segments.size(), false) {}

  search_result run() {
    line_up();
    while (!queue_.empty() && !refuted_ && steps_ <= bound_) {
      const id s = queue_.back();
      queue_.pop_back();
      queued_[s] = false;
      settle(s);
    }
    search_result r;
    if (refuted_)
      r.found = search_result::kind::impossible;
    else if (queue_.empty())
      r.found = search_result::kind::found;
    r.steps = steps_;
    r.position = std::move(position_);
    r.why = std::move(why_);
    return r;
  }

 private:
  id start_of(id s) const { return p_.segments[s].first; }
  id start_position(id s) const { return position_[start_of(s)]; }
  id end_position(id s) const { return position_[p_.end_of(s)]; }

  void enqueue(id s) {
    if (p_.segments[s].first == none) return;  // the initial segment: fixed edges keep it first
    if (!queued_[s]) queue_.push_back(s);
    queued_[s] = true;
  }

  /// The segments of each element in the order of their first transactions.
  void line_up() {
    for (id s = 0; s < p_.segments.size(); ++s) line_.push_back(s);
    const auto by_start = [&](id a, id b) { return start_position(a) < start_position(b); };
    for (std::size_t g = 0; g < p_.groups(); ++g)
      std::sort(line_.begin() + p_.group_begin[g] + 1, line_.begin() + p_.group_begin[g + 1], by_start);
    for (id i = 0; i < line_.size(); ++i) place_[line_[i]] = i;
    for (id s = 0; s < p_.segments.size(); ++s) enqueue(s);
    std::sort(queue_.begin(), queue_.end(), [&](id a, id b) { return by_start(b, a); });
  }

  /// Looks at a segment that has moved: puts it in line, and orders it and its neighbours if they overlap. Neighbours
  /// of which neither is in the queue do not overlap.
  void settle(id s) {
    const id low = p_.group_begin[p_.group_of[s]] + 1, high = p_.group_begin[p_.group_of[s] + 1];
    const id old = place_[s];
    id at = old;
    for (; at > low && start_position(line_[at - 1]) > start_position(s); --at) put(line_[at - 1], at);
    for (; at + 1 < high && start_position(line_[at + 1]) < start_position(s); ++at) put(line_[at + 1], at);
    put(s, at);
    if (at != old) {
      enqueue(line_[old]);
      steps_ += at < old ? old - at : at - old;
    }
    ++steps_;
    if (at > low && overlap(line_[at - 1], s))
      choose(line_[at - 1], s);
    else if (at + 1 < high && overlap(s, line_[at + 1]))
      choose(s, line_[at + 1]);
    else
      return;
    enqueue(s);
  }

  void put(id s, id at) {
    line_[at] = s;
    place_[s] = at;
  }

  bool overlap(id a, id b) const { return end_position(a) > start_position(b); }

  void choose(id a, id b) {
    levels against_a, against_b;
    const bool a_first = !closes_cycle(a, b, against_a, why_.cycle);
    const bool b_first = !closes_cycle(b, a, against_b, why_.other_cycle);
    if (!a_first && !b_first) {
      why_.first = a;
      why_.second = b;
      resolve(merge(against_a, against_b));
    } else if (a_first && b_first) {
      const id level = static_cast<id>(decisions_.size());
      decisions_.push_back({a, b});
      resting_on_.emplace_back();
      add({a, b, {level}});
    } else if (a_first) {
      add({a, b, against_b});
    } else {
      add({b, a, against_a});
    }
  }

  /// These decisions cannot stand together: takes back the latest of them, and what rests on it. Decisions that were
  /// made later and have no part in this stay (dynamic backtracking: Ginsberg, JAIR 1, 1993).
  void resolve(levels conflict) {
    while (!conflict.empty() && steps_ <= bound_) {
      const id latest = conflict.back();
      conflict.pop_back();
      const auto [before, after] = decisions_[latest];
      take_back(latest);
      levels against;
      std::vector<id> cycle;
      if (!closes_cycle(after, before, against, cycle)) {
        add({after, before, conflict});
        return;
      }
      why_ = {after, before, std::move(cycle), {}};
      conflict = merge(conflict, against);
    }
    refuted_ = conflict.empty();
  }

  void take_back(id level) {
    steps_ += resting_on_[level].size();
    for (id c : resting_on_[level]) {
      // The number may have been used again since.
      if (!std::binary_search(choices_[c].because.begin(), choices_[c].because.end(), level)) continue;
      disconnect(choices_[c]);
      choices_[c] = {};
      free_.push_back(c);
    }
    resting_on_[level].clear();
  }

  // ---- the graph -----------------------------------------------------------------------------
  struct arc {
    id node;
    id reason;  // number of the choice; none: always there
  };

  void connect(choice c) {
    if (free_.empty()) {
      free_.push_back(static_cast<id>(choices_.size()));
      choices_.emplace_back();
    }
    const id number = free_.back();
    free_.pop_back();
    out_[c.before].push_back({start_of(c.after), number});
    in_[start_of(c.after)].push_back({p_.end_of(c.before), number});
    for (id level : c.because) resting_on_[level].push_back(number);
    choices_[number] = std::move(c);
  }

  void disconnect(const choice& c) {
    std::erase_if(out_[c.before], [&](const arc& a) { return a.node == start_of(c.after); });
    std::erase_if(in_[start_of(c.after)], [&](const arc& a) { return a.node == p_.end_of(c.before); });
  }

  template <class Visit>
  void for_each_out(id node, Visit visit) const {
    for (id to : p_.out[node]) visit(to, none);
    if (p_.is_end(node))
      for (const arc& a : out_[node - p_.ends]) visit(a.node, a.reason);
  }

  template <class Visit>
  void for_each_in(id node, Visit visit) const {
    for (id from : fixed_in_[node]) visit(from, none);
    if (node < p_.transactions)
      for (const arc& a : in_[node]) visit(a.node, a.reason);
  }

  /// Collects what `root` reaches (or what reaches it) within the positions up to (or down to) the limit.
  template <bool Forward>
  void flood(id root, id limit, std::vector<id>& reached) {
    ++stamp_;
    reached.assign(1, root);
    seen_[root] = stamp_;
    const auto visit = [&](id from, id to, id reason) {
      ++steps_;
      if (seen_[to] == stamp_ || (Forward ? position_[to] > limit : position_[to] < limit)) return;
      seen_[to] = stamp_;
      parent_[to] = from;
      via_[to] = reason;
      reached.push_back(to);
    };
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const id node = reached[i];
      if constexpr (Forward)
        for_each_out(node, [&](id to, id reason) { visit(node, to, reason); });
      else
        for_each_in(node, [&](id from, id reason) { visit(node, from, reason); });
    }
  }

  /// Would "a before b" close a cycle? Then `against` gets the decisions on it, and `cycle` its nodes.
  bool closes_cycle(id a, id b, levels& against, std::vector<id>& cycle) {
    const id from = start_of(b), to = p_.end_of(a);
    cycle.clear();
    if (position_[from] > position_[to]) return false;
    flood<true>(from, position_[to], forward_);
    if (seen_[to] != stamp_) return false;
    for (id at = to; at != from; at = parent_[at]) {
      cycle.push_back(at);
      if (via_[at] != none) against = merge(against, choices_[via_[at]].because);
    }
    cycle.push_back(from);
    std::reverse(cycle.begin(), cycle.end());
    return true;
  }

  /// Connects, and moves nodes so that the order stays topological. There must be no cycle.
  void add(choice c) {
    const id from = p_.end_of(c.before), to = start_of(c.after);
    const id low = position_[to], high = position_[from];
    if (low < high) {
      flood<true>(to, high, forward_);
      flood<false>(from, low, backward_);
      const auto by_position = [&](id a, id b) { return position_[a] < position_[b]; };
      std::sort(forward_.begin(), forward_.end(), by_position);
      std::sort(backward_.begin(), backward_.end(), by_position);
      std::vector<id> places;
      for (id node : backward_) places.push_back(position_[node]);
      for (id node : forward_) places.push_back(position_[node]);
      std::sort(places.begin(), places.end());
      std::size_t next = 0;
      for (id node : backward_) move(node, places[next++]);
      for (id node : forward_) move(node, places[next++]);
    }
    connect(std::move(c));
  }

  void move(id node, id place) {
    if (position_[node] == place) return;
    position_[node] = place;
    if (p_.is_end(node)) enqueue(node - p_.ends);
    if (node < p_.transactions)
      for (id s : p_.starts[node]) enqueue(s);
  }

  const polygraph& p_;
  rows fixed_in_;
  std::vector<id> position_;
  std::uint64_t bound_, steps_ = 0;
  std::vector<choice> choices_;
  std::vector<id> free_;                      // numbers of choices that were taken back
  std::vector<std::pair<id, id>> decisions_;  // which segment was put before which
  std::vector<std::vector<id>> resting_on_;   // per decision: numbers of choices
  std::vector<std::vector<arc>> out_;         // per segment: chosen edges from its end
  std::vector<std::vector<arc>> in_;          // per transaction: chosen edges to it
  std::vector<id> parent_, via_, seen_;       // of the last flood
  id stamp_ = 0;
  std::vector<id> forward_, backward_;
  std::vector<id> line_, place_;
  std::vector<bool> queued_;
  std::vector<id> queue_;
  bool refuted_ = false;
  contradiction why_;
};

}  // namespace

search_result search(const polygraph& p, std::vector<id> position, std::uint64_t bound) {
  return solver(p, std::move(position), bound).run();
}

}  // namespace gputm::history::detail
