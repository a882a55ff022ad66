#include "polygraph.hpp"

#include <algorithm>
#include <utility>

#include "report.hpp"

namespace gputm::history::detail {
namespace {

class drawer {
 public:
  drawer(const history& h, const index& ix, polygraph& out) : h_(h), ix_(ix), out_(out) {}

  std::optional<verdict> draw(std::vector<bool> timed) {
    out_.timed = std::move(timed);
    out_.transactions = out_.ends = static_cast<id>(h_.transactions.size());
    draw_known_versions();
    find_segments();
    out_.fixed.nodes = std::size_t{out_.ends} + out_.segments.size();
    for (std::size_t g = 0; g < out_.groups(); ++g)
      if (auto bad = draw_fixed_ends(g)) return bad;
    draw_real_time();
    out_.out = by_source(out_.fixed.nodes, out_.fixed.edges);
    return {};
  }

 private:
  void connect(id from, id to) { out_.fixed.connect(from, to); }

  void draw_known_versions() {
    for (id v = 0; v < ix_.versions.size(); ++v) {
      const version& made = ix_.versions[v];
      const id overwriter = made.next == none ? none : ix_.versions[made.next].writer;
      for (id reader : ix_.readers[v]) {
        if (made.writer != none) connect(made.writer, reader);
        if (overwriter != none && reader != overwriter) connect(reader, overwriter);
      }
    }
  }

  void find_segments() {
    std::vector<edge> blind;
    for (id v = 0; v < ix_.versions.size(); ++v)
      if (ix_.versions[v].blind) blind.push_back({ix_.versions[v].element, v});
    const rows heads = by_source(ix_.elements.size(), blind);
    std::vector<edge> starts;
    for (id e = 0; e < ix_.elements.size(); ++e) {
      if (heads[e].empty()) continue;
      out_.group_begin.push_back(static_cast<id>(out_.segments.size()));
      add_segment(e, e);
      for (id head : heads[e]) {
        starts.push_back({ix_.versions[head].writer, static_cast<id>(out_.segments.size())});
        add_segment(e, head);
      }
    }
    out_.group_begin.push_back(static_cast<id>(out_.segments.size()));
    out_.starts = by_source(out_.transactions, starts);
  }

  void add_segment(id element, id head) {
    id last = head;
    while (ix_.versions[last].next != none) last = ix_.versions[last].next;
    const id end = out_.ends + static_cast<id>(out_.segments.size());
    out_.segments.push_back({element, ix_.versions[head].writer, head, last, none, none});
    out_.group_of.push_back(static_cast<id>(out_.group_begin.size() - 1));
    if (ix_.versions[last].writer != none) connect(ix_.versions[last].writer, end);
    for (id reader : ix_.readers[last]) connect(reader, end);
  }

  /// The initial value comes before everything, the final one after.
  std::optional<verdict> draw_fixed_ends(std::size_t g) {
    const id initial = out_.group_begin[g], end = out_.group_begin[g + 1];
    for (id s = initial + 1; s < end; ++s) connect(out_.end_of(initial), out_.segments[s].first);
    const id final = ix_.final_version[out_.segments[initial].element];
    if (final == none) return {};
    const auto holds_final = [&](id s) { return out_.segments[s].last_version == final; };
    if (holds_final(initial)) return overwritten_final(initial);
    for (id last = initial + 1; last < end; ++last) {
      if (!holds_final(last)) continue;
      for (id s = initial + 1; s < end; ++s)
        if (s != last) connect(out_.end_of(s), out_.segments[last].first);
    }
    return {};
  }

  verdict overwritten_final(id initial) const {
    const segment& s = out_.segments[initial];
    const id writer = out_.segments[initial + 1].first;
    return violation("wrong final state: " + element_name(ix_, s.element) + " = " +
                         std::to_string(ix_.versions[s.last_version].value) + ", but " + describe(h_, writer) +
                         " wrote it, and nobody set it back",
                     {writer});
  }

  void draw_real_time() {
    std::vector<moment> ends, begins;
    for (id t = 0; t < out_.transactions; ++t) {
      if (!out_.timed[t] || !ix_.relevant[t]) continue;
      ends.push_back({h_.transactions[t].end, t});
      begins.push_back({h_.transactions[t].begin, t});
    }
    out_.fixed.connect_by_time(std::move(ends), std::move(begins));
  }

  const history& h_;
  const index& ix_;
  polygraph& out_;
};

}  // namespace

void drawing::connect_by_time(std::vector<moment> earlier, std::vector<moment> later) {
  const auto before = [](const moment& a, const moment& b) { return a.at < b.at; };
  std::sort(earlier.begin(), earlier.end(), before);
  std::sort(later.begin(), later.end(), before);
  id now = none;
  std::size_t done = 0;
  for (const moment& l : later) {
    if (done < earlier.size() && earlier[done].at < l.at) {
      const id next = static_cast<id>(nodes++);
      if (now != none) connect(now, next);
      for (; done < earlier.size() && earlier[done].at < l.at; ++done) connect(earlier[done].node, next);
      now = next;
    }
    if (now != none) connect(now, l.node);
  }
}

std::optional<verdict> build_polygraph(const history& h, const index& ix, std::vector<bool> timed, polygraph& out) {
  return drawer(h, ix, out).draw(std::move(timed));
}

}  // namespace gputm::history::detail
