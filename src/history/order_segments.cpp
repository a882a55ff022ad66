#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "polygraph.hpp"

namespace gputm::history::detail {
namespace {

/// Each segment spans the time from the earliest deadline among its readers and writers to the latest release among
/// them. When the deadline of one lies before the release of another, the segments have that order too: these are the
/// zones of Gibbons and Korach (SIAM J. Comput. 26(4), 1997). Nothing but speed depends on it, as the search would find
/// the same; but most choices of a long history are settled here.
class orderer {
 public:
  orderer(const index& ix, const std::vector<bound>& due, const std::vector<bound>& released, polygraph& p)
      : ix_(ix), due_(due), released_(released), p_(p), out_(p.fixed) {}

  void run() {
    span_.resize(p_.segments.size());
    for (id s = 0; s < p_.segments.size(); ++s)
      if (p_.segments[s].first != none) find_span(s);  // the initial segment is first anyhow
    for (std::size_t g = 0; g < p_.groups(); ++g) order_group(p_.group_begin[g] + 1, p_.group_begin[g + 1]);
    p_.out = by_source(out_.nodes, out_.edges);
  }

 private:
  struct span {
    std::uint64_t due = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t released = 0;
    bool forward() const { return due < released; }
  };

  void find_span(id s) {
    const auto include = [&](id t) {
      if (due_[t].at < span_[s].due || p_.segments[s].due_by == none) {
        span_[s].due = due_[t].at;
        p_.segments[s].due_by = due_[t].by;
      }
      if (released_[t].at > span_[s].released || p_.segments[s].released_by == none) {
        span_[s].released = released_[t].at;
        p_.segments[s].released_by = released_[t].by;
      }
    };
    p_.segments[s].due_by = p_.segments[s].released_by = none;
    for (id v = p_.segments[s].first_version; v != none; v = ix_.versions[v].next) {
      include(ix_.versions[v].writer);
      for (id reader : ix_.readers[v]) include(reader);
    }
  }

  void precede(id before, id after) { out_.connect(p_.end_of(before), p_.segments[after].first); }

  void order_group(id begin, id end) {
    forward_.clear();
    for (id s = begin; s < end; ++s)
      if (span_[s].forward()) forward_.push_back(s);
    std::sort(forward_.begin(), forward_.end(), [&](id a, id b) { return span_[a].due < span_[b].due; });
    for (std::size_t i = 0; i + 1 < forward_.size(); ++i) {
      if (span_[forward_[i + 1]].due >= span_[forward_[i]].released) continue;
      precede(forward_[i], forward_[i + 1]);  // each must be first: a cycle, and the end of this history
      precede(forward_[i + 1], forward_[i]);
      return;
    }
    std::vector<moment> earlier, later;
    for (id s = begin; s < end; ++s) {
      earlier.push_back({span_[s].due, p_.end_of(s)});
      // By its release a forward span would come after itself; what is due within it is drawn one by one.
      later.push_back({span_[s].forward() ? span_[s].due : span_[s].released, p_.segments[s].first});
      if (!span_[s].forward()) precede_surrounding(s);
    }
    out_.connect_by_time(std::move(earlier), std::move(later));
  }

  /// If the segment is due within a forward span, it comes before that.
  void precede_surrounding(id s) {
    const auto after = std::upper_bound(forward_.begin(), forward_.end(), span_[s].due,
                                        [&](std::uint64_t at, id other) { return at < span_[other].due; });
    if (after != forward_.begin() && span_[s].due < span_[*(after - 1)].released) precede(s, *(after - 1));
  }

  const index& ix_;
  const std::vector<bound>& due_;
  const std::vector<bound>& released_;
  polygraph& p_;
  drawing out_;
  std::vector<span> span_;
  std::vector<id> forward_;
};

}  // namespace

std::vector<bound> deadlines(const history& h, const polygraph& p, std::span<const id> order,
                             const std::vector<bool>& timed) {
  std::vector<bound> due(p.nodes(), {std::numeric_limits<std::uint64_t>::max(), none});
  for (id t = 0; t < p.transactions; ++t)
    if (timed[t]) due[t] = {h.transactions[t].end, t};
  for (std::size_t i = order.size(); i-- > 0;)
    for (id to : p.out[order[i]])
      if (due[to].at < due[order[i]].at) due[order[i]] = due[to];
  return due;
}

std::vector<bound> releases(const history& h, const polygraph& p, std::span<const id> order,
                            const std::vector<bool>& timed) {
  std::vector<bound> released(p.nodes(), {0, none});
  for (id t = 0; t < p.transactions; ++t)
    if (timed[t]) released[t] = {h.transactions[t].begin, t};
  for (id node : order)
    for (id to : p.out[node])
      if (released[node].at > released[to].at) released[to] = released[node];
  return released;
}

void order_segments(const history& h, const index& ix, std::span<const id> order, polygraph& p) {
  const std::vector<bound> due = deadlines(h, p, order, p.timed);
  const std::vector<bound> released = releases(h, p, order, p.timed);
  orderer(ix, due, released, p).run();
}

}  // namespace gputm::history::detail
