#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cycle.hpp"
#include "gputm/history.hpp"
#include "report.hpp"
#include "search.hpp"

namespace gputm::history {
namespace {

using namespace detail;

/// Executes the history serially, from its raw accesses. Nothing the graph is made of is used here, so that a mistake
/// in the graph cannot pass a wrong history.
class replay {
 public:
  replay(const history& h, bool real_time) : h_(h), real_time_(real_time), current_(h.initial) {}

  bool accepts(const std::vector<std::size_t>& order) {
    std::uint64_t latest_begin = 0;
    for (std::size_t t : order) {
      const transaction& tx = h_.transactions[t];
      if (real_time_ && tx.end < latest_begin) return false;
      latest_begin = std::max(latest_begin, tx.begin);
      if (!execute(tx)) return false;
    }
    return std::all_of(h_.final.begin(), h_.final.end(),
                       [&](const auto& expected) { return current_[expected.first] == expected.second; });
  }

 private:
  bool execute(const transaction& tx) {
    undo_.clear();
    for (const access& a : tx.accesses) {
      std::uint64_t& value = current_[{a.region, a.element}];
      if (!a.is_write && value != a.value) return false;
      if (!a.is_write) continue;
      undo_.emplace_back(&value, value);  // references into an unordered_map survive insertions
      value = a.value;
    }
    if (tx.how == transaction::ended::committed) return true;
    for (; !undo_.empty(); undo_.pop_back()) *undo_.back().first = undo_.back().second;
    return true;
  }

  const history& h_;
  bool real_time_;
  values current_;
  std::vector<std::pair<std::uint64_t*, std::uint64_t>> undo_;
};

struct attempt {
  verdict found;
  bool rests_on_time = true;   // false: without regard to real time it would be the same
  std::vector<id> timed_by{};  // transactions whose place in real time led to it, as far as known
};

verdict undetermined(std::uint64_t bound) {
  return {false,
          finding::undetermined,
          "undetermined: the work bound of " + std::to_string(bound) +
              " steps was reached before an order of the blind writes was found or ruled out",
          {},
          {}};
}

/// Opacity needs one order of all transactions in which the aborted ones, too, read what the committed ones before them
/// left behind. For a given order of versions that is the usual polynomial check: aborted transactions join the graph
/// as ones that only read. All that is known of such a node are edges that every order must respect: from the writers
/// that it read, to those who overwrote what it read, and in real time. Nobody reads from it, so it leaves no choice
/// open, and aborted transactions meet each other only in real time or by way of committed ones. Hence one graph can
/// hold them all, and the order exists if and only if the graph is acyclic. What is decided is final-state opacity
/// (Guerraoui and Kapalka, PPoPP 2008): opacity of every prefix would need the moments of the single accesses.
class solver {
 public:
  solver(const history& h, const index& ix, const options& o) : h_(h), ix_(ix), o_(o), left_(o.work_bound) {}

  verdict solve() {
    std::vector<bool> timed(h_.transactions.size(), true);
    if (o_.level != level::serialisable) return attempt_with(timed).found;
    // Of systems that break real time most do so rarely, and real time settles nearly all orders of blind writes. So it
    // is given up little by little, where it stands in the way.
    constexpr int attempts = 8;
    for (int i = 0; i < attempts && left_ > o_.work_bound / 2; ++i) {
      const attempt a = attempt_with(timed);
      if (a.found.ok || !a.rests_on_time) return a.found;
      if (a.timed_by.empty()) break;
      for (id t : a.timed_by) timed[t] = false;
    }
    timed.assign(timed.size(), false);
    return attempt_with(timed).found;
  }

 private:
  attempt attempt_with(const std::vector<bool>& timed) {
    polygraph p;
    if (auto bad = build_polygraph(h_, ix_, timed, p)) return {*bad, false};
    std::vector<id> order = topological_order(p.out);
    // More than two rounds cost more than they save the search.
    const int rounds = p.groups() == 0 || std::find(timed.begin(), timed.end(), true) == timed.end() ? 0 : 2;
    for (int round = 0; round < rounds && order.size() == p.nodes(); ++round) {
      order_segments(h_, ix_, order, p);
      order = topological_order(p.out);
    }
    if (order.size() < p.nodes()) {
      const std::vector<id> cycle = short_cycle(p.out, order, p.transactions);
      std::vector<id> reasons = timed_by(h_, p, cycle);
      return {cyclic(h_, ix_, p, o_.level, cycle), !reasons.empty(), std::move(reasons)};
    }
    return p.groups() == 0 ? attempt{consistent(order)} : choose(p, std::move(order));
  }

  /// Orders the blind writes, of which some order is still open.
  attempt choose(const polygraph& p, std::vector<id> order) {
    const search_result r = search(p, likely_positions(h_, p, order), left_);
    left_ -= std::min(left_, r.steps);
    if (r.found == search_result::kind::bound_reached) return {undetermined(o_.work_bound)};
    if (r.found == search_result::kind::impossible) {
      std::vector<id> reasons = timed_by(h_, p, r.why.cycle);
      for (id t : timed_by(h_, p, r.why.other_cycle)) reasons.push_back(t);
      return {contradictory(h_, ix_, p, o_.level, r.why), true, std::move(reasons)};
    }
    for (id node = 0; node < p.nodes(); ++node) order[r.position[node]] = node;
    return {consistent(order)};
  }

  verdict consistent(const std::vector<id>& sorted) const {
    verdict v{true, finding::consistent, {}, {}, {}};
    for (id node : sorted)
      if (node < h_.transactions.size() && ix_.relevant[node]) v.order.push_back(node);
    if (!replay(h_, o_.level != level::serialisable).accepts(v.order))
      throw std::logic_error("gputm::history::check: an order was found that does not explain the history");
    return v;
  }

  const history& h_;
  const index& ix_;
  options o_;
  std::uint64_t left_;
};

}  // namespace

verdict check(const history& h, const options& o) {
  index ix;
  if (auto bad = build_index(h, o.level, ix)) return *bad;
  return solver(h, ix, o).solve();
}

}  // namespace gputm::history
