#include "report.hpp"

#include <utility>

#include "cycle.hpp"
#include "search.hpp"

namespace gputm::history::detail {
namespace {

std::string number(std::size_t transaction) {
  std::string text = "#";
  return text += std::to_string(transaction);
}

/// Says why one transaction on a cycle precedes the next one.
class explainer {
 public:
  explainer(const history& h, const index& ix, const polygraph& p) : h_(h), ix_(ix), p_(p) {}

  /// Lines for all steps of the cycle, and its transactions. `supposed`: the step between these segments is what the
  /// cycle speaks against.
  std::pair<std::string, std::vector<std::size_t>> explain(const std::vector<id>& cycle,
                                                           std::pair<id, id> supposed = {none, none}) const {
    std::string lines;
    std::vector<std::size_t> members;
    for (const step& s : steps_of(p_, cycle)) {
      members.push_back(s.from);
      lines += "\n  " + describe(h_, s.from) + "\n    before " + number(s.to) + ", ";
      switch (s.how) {
        case step::kind::direct: lines += direct(s.from, s.to); break;
        case step::kind::real_time: lines += real_time(s.from, s.to); break;
        case step::kind::segments: lines += between_segments(s, std::pair{s.before, s.after} == supposed); break;
      }
    }
    return {lines, members};
  }

 private:
  std::string value(id v) const { return std::to_string(ix_.versions[v].value); }
  std::string what(id v) const { return element_name(ix_, ix_.versions[v].element) + " = " + value(v); }

  std::string real_time(id from, id to) const {
    return "real time: it ended at " + std::to_string(h_.transactions[from].end) + ", " + number(to) + " began at " +
           std::to_string(h_.transactions[to].begin);
  }

  std::string direct(id from, id to) const {
    for (id v : ix_.reads[to])
      if (ix_.versions[v].writer == from) return "reads-from: it wrote " + what(v) + ", which " + number(to) + " read";
    for (id v : ix_.reads[from]) {
      const id next = ix_.versions[v].next;
      if (next != none && ix_.versions[next].writer == to)
        return "anti-dependency: it read " + what(v) + ", which " + number(to) + " overwrote with " + value(next);
    }
    return "for a reason unknown";  // no edge is drawn for another one
  }

  std::string between_segments(const step& s, bool supposed) const {
    const id last = p_.segments[s.before].last_version;
    const std::string then = ", and " + number(s.to) + " wrote " + value(p_.segments[s.after].first_version) +
                             " later, " + (supposed ? "as supposed" : order_cause(s.before, s.after));
    if (ix_.versions[last].writer == s.from) return "write order: it wrote " + what(last) + then;
    return "anti-dependency: it read " + what(last) + then;
  }

  std::string order_cause(id before, id after) const {
    const segment& b = p_.segments[before];
    const segment& a = p_.segments[after];
    if (b.first == none)
      return b.last_version == b.first_version ? "as the initial value comes first"
                                               : "as what was made of the initial value comes first";
    if (ix_.final_version[a.element] == a.last_version) return "as that led to the final value";
    if (!ordered_by_time(h_, p_, before, after)) return "as the other order was ruled out";
    return "as the former value was used before " + std::to_string(h_.transactions[b.due_by].end) + ", when " +
           number(b.due_by) + " ended, and the latter after " + std::to_string(h_.transactions[a.released_by].begin) +
           ", when " + number(a.released_by) + " began";
  }

  const history& h_;
  const index& ix_;
  const polygraph& p_;
};

}  // namespace

std::string name(level at) {
  switch (at) {
    case level::serialisable: return "serialisability";
    case level::strict: return "strict serialisability";
    case level::opaque: return "opacity";
  }
  return "?";
}

std::string name(const location& at) { return std::to_string(at.region) + ":" + std::to_string(at.element); }

std::string element_name(const index& ix, id element) {
  std::string text = "element ";
  return text += name(ix.elements[element]);
}

std::string describe(const history& h, std::size_t transaction) {
  static constexpr const char* how[] = {"committed", "cancelled", "aborted"};
  const auto& t = h.transactions[transaction];
  return number(transaction) + " (thread " + std::to_string(t.thread) + ", " + std::to_string(t.begin) + ".." +
         std::to_string(t.end) + ", " + how[static_cast<std::size_t>(t.how)] + ")";
}

verdict unusable(std::string what, std::vector<std::size_t> culprits) {
  return {false, finding::unusable, "unusable history: " + std::move(what), std::move(culprits), {}};
}

verdict violation(std::string what, std::vector<std::size_t> culprits) {
  return {false, finding::violation, std::move(what), std::move(culprits), {}};
}

verdict cyclic(const history& h, const index& ix, const polygraph& p, level at, const std::vector<id>& cycle) {
  const auto [lines, members] = explainer(h, ix, p).explain(cycle);
  return violation("violation of " + name(at) + ": each of " + std::to_string(members.size()) +
                       " transactions has to come before the next, in a cycle" + lines,
                   members);
}

verdict contradictory(const history& h, const index& ix, const polygraph& p, level at, const contradiction& c) {
  const explainer words(h, ix, p);
  const id first = p.segments[c.first].first, second = p.segments[c.second].first;
  const auto [lines, members] = words.explain(c.cycle, {c.first, c.second});
  std::string text = "violation of " + name(at) + ": " + number(first) + " and " + number(second) + " both wrote " +
                     element_name(ix, p.segments[c.first].element) + ", and neither can come first\nsuppose that " +
                     number(first) + " came first:" + lines;
  text += "\nsuppose that " + number(second) + " came first:";
  text += c.other_cycle.empty() ? "\n  ruled out by trying all orders of other writes"
                                : words.explain(c.other_cycle, {c.second, c.first}).first;
  return violation(std::move(text), members);
}

}  // namespace gputm::history::detail
