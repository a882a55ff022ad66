#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "polygraph.hpp"

namespace gputm::history::detail {
namespace {

class simulation {
 public:
  simulation(const history& h, const polygraph& p, std::span<const id> order)
      : p_(p),
        due_(deadlines(h, p, order, std::vector<bool>(p.transactions, true))),
        patience_(16 * p.nodes()),
        missing_(p.nodes()),
        position_(p.nodes(), none),
        open_(p.groups(), none) {
    for (std::size_t s = 0; s < p.segments.size(); ++s) waiting_.emplace_back();
    for (id node = 0; node < p.nodes(); ++node)
      for (id to : p.out[node]) ++missing_[to];
  }

  std::vector<id> run() {
    for (id node = 0; node < p_.nodes(); ++node)
      if (missing_[node] == 0) make_ready(node);
    for (;;) {
      place_auxiliary();
      if (!ready_.empty()) {
        const id t = pop(ready_);
        if (const id s = obstacle(t); s == none || patience_ == 0) {
          place(t);
        } else {
          --patience_;
          waiting_[s].push_back(t);
          stuck_.push(key(t));
        }
      } else if (!stuck_.empty()) {
        // Every way on would overwrite a version that somebody has yet to read. Go on with the most urgent; the search
        // repairs it.
        if (const id t = pop(stuck_); position_[t] == none) place(t);
      } else {
        return std::move(position_);
      }
    }
  }

 private:
  /// Without a blind write among others' a transaction that can go next may always go next: no choice is lost.
  using urgency = std::tuple<bool, std::uint64_t, id>;
  using heap = std::priority_queue<urgency, std::vector<urgency>, std::greater<>>;

  urgency key(id t) const { return {!p_.starts[t].empty(), due_[t].at, t}; }

  static id pop(heap& from) {
    const id t = std::get<id>(from.top());
    from.pop();
    return t;
  }

  void make_ready(id node) {
    if (node < p_.transactions)
      ready_.push(key(node));
    else
      auxiliary_.push_back(node);
  }

  void place(id node) {
    position_[node] = placed_++;
    if (node < p_.transactions)
      for (id s : p_.starts[node]) open_[p_.group_of[s]] = s;
    for (id to : p_.out[node])
      if (--missing_[to] == 0) make_ready(to);
  }

  void place_auxiliary() {
    while (!auxiliary_.empty()) {
      const id node = auxiliary_.back();
      auxiliary_.pop_back();
      place(node);
      if (!p_.is_end(node)) continue;
      for (id t : waiting_[node - p_.ends])
        if (position_[t] == none) ready_.push(key(t));
      waiting_[node - p_.ends].clear();
    }
  }

  /// A segment whose last version would be overwritten before all have read it.
  id obstacle(id t) const {
    for (id s : p_.starts[t]) {
      const id before = open_[p_.group_of[s]];
      if (before != none && position_[p_.end_of(before)] == none) return before;
    }
    return none;
  }

  const polygraph& p_;
  std::vector<bound> due_;  // of all, timed or not: a system that works is most often close to real time
  std::size_t patience_;    // how often transactions may wait, all together: each may do so for every segment
  std::vector<id> missing_, position_;
  std::vector<id> open_;                  // per group: the segment that was started last
  std::vector<std::vector<id>> waiting_;  // per segment: who waits for its end
  std::vector<id> auxiliary_;
  heap ready_, stuck_;
  id placed_ = 0;
};

}  // namespace

std::vector<id> likely_positions(const history& h, const polygraph& p, std::span<const id> order) {
  return simulation(h, p, order).run();
}

}  // namespace gputm::history::detail
