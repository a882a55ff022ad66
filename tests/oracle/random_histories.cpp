#include "random_histories.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gputm::history::test {
namespace {

using ended = transaction::ended;
using model = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

std::uint64_t below(std::mt19937_64& random, std::uint64_t n) {
  return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
}
bool chance(std::mt19937_64& random, unsigned percent) { return below(random, 100) < percent; }

ended random_ending(const shape& s, std::mt19937_64& random) {
  if (chance(random, s.aborted_percent)) return ended::aborted;
  return chance(random, s.cancelled_percent) ? ended::cancelled : ended::committed;
}

/// The place of the element among regions and elements: two of them in one region, to tell the parts of a name apart.
location place(std::uint32_t element) { return {element / 2, element % 2}; }

using undo_log = std::vector<std::pair<std::uint64_t*, std::uint64_t>>;

void read(transaction& t, const location& at, model& m) {
  t.accesses.push_back({at.region, at.element, m[{at.region, at.element}], false});
}

void write(transaction& t, const location& at, model& m, std::uint64_t value, undo_log& undo) {
  t.accesses.push_back({at.region, at.element, value, true});
  std::uint64_t& element = m[{at.region, at.element}];
  undo.emplace_back(&element, element);
  element = value;
}

void run_body(transaction& t, const shape& s, model& m, std::uint64_t& fresh, std::mt19937_64& random) {
  undo_log undo;
  for (std::uint64_t left = below(random, s.accesses + 1); left > 0; --left) {
    const location at = place(static_cast<std::uint32_t>(below(random, s.elements)));
    const bool is_write = chance(random, s.write_percent);
    if (!is_write || !chance(random, s.blind_percent)) read(t, at, m);
    if (is_write) write(t, at, m, ++fresh, undo);
  }
  if (t.how == ended::committed) return;
  for (; !undo.empty(); undo.pop_back()) *undo.back().first = undo.back().second;
}

bool legal(const transaction& t, model& m) {
  for (const access& a : t.accesses) {
    std::uint64_t& value = m[{a.region, a.element}];
    if (a.is_write)
      value = a.value;
    else if (value != a.value)
      return false;
  }
  return true;
}

struct permutations {
  const history& h;
  level at;
  std::vector<bool> placed;

  bool extend(const model& m) {
    bool complete = true;
    for (std::size_t t = 0; t < placed.size(); ++t) {
      if (placed[t]) continue;
      complete = false;
      if (at != level::serialisable && must_wait(t)) continue;
      model after = m;
      if (!legal(h.transactions[t], after)) continue;
      placed[t] = true;
      if (extend(h.transactions[t].how == ended::committed ? after : m)) return true;
      placed[t] = false;
    }
    if (!complete) return false;
    return std::all_of(h.final.begin(), h.final.end(), [&](const auto& f) {
      const auto found = m.find({f.first.region, f.first.element});
      return (found == m.end() ? 0 : found->second) == f.second;
    });
  }

  bool must_wait(std::size_t t) const {
    for (std::size_t other = 0; other < placed.size(); ++other)
      if (!placed[other] && h.transactions[other].end < h.transactions[t].begin) return true;
    return false;
  }
};

}  // namespace

history executed(const shape& s, std::mt19937_64& random) {
  history h;
  model m;
  std::uint64_t fresh = s.elements;  // initial values are no greater
  for (std::uint32_t e = 0; e < s.elements; ++e) {
    if (e % 3 == 2) continue;  // starts as 0
    h.initial[place(e)] = e + 1;
    m[{place(e).region, place(e).element}] = e + 1;
  }
  for (std::size_t i = 0; i < s.transactions; ++i) {
    transaction t;
    const std::uint64_t point = 4 * (i + s.spread + 1);
    t.begin = point - 4 * below(random, s.spread + 1) - 1;
    t.end = point + 4 * below(random, s.spread + 1) + 1;
    t.thread = static_cast<std::uint32_t>(i);
    t.how = random_ending(s, random);
    run_body(t, s, m, fresh, random);
    h.transactions.push_back(std::move(t));
  }
  if (s.final_values)
    for (const auto& [at, value] : m) h.final[{at.first, at.second}] = value;
  std::shuffle(h.transactions.begin(), h.transactions.end(), random);
  return h;
}

bool mutate_read(history& h, std::mt19937_64& random) {
  std::vector<access*> reads;
  for (transaction& t : h.transactions)
    for (access& a : t.accesses)
      if (!a.is_write) reads.push_back(&a);
  if (reads.empty()) return false;
  access& chosen = *reads[below(random, reads.size())];
  const auto initial = h.initial.find({chosen.region, chosen.element});
  std::vector<std::uint64_t> values{initial == h.initial.end() ? 0 : initial->second};
  for (const transaction& t : h.transactions)
    for (const access& a : t.accesses)
      if (a.is_write && a.region == chosen.region && a.element == chosen.element) values.push_back(a.value);
  chosen.value = values[below(random, values.size())];
  return true;
}

void scramble_time(history& h, std::mt19937_64& random) {
  for (transaction& t : h.transactions) {
    t.begin = below(random, 4 * h.transactions.size());
    t.end = t.begin + 1 + below(random, 2 * h.transactions.size());
  }
}

history arbitrary(const shape& s, std::mt19937_64& random) {
  history h = executed(s, random);
  if (chance(random, 50)) scramble_time(h, random);
  for (std::uint64_t changes = below(random, 2 * s.transactions); changes > 0; --changes) mutate_read(h, random);
  return h;
}

bool explained_by_some_order(const history& h, level at) {
  permutations all{h, at, {}};
  for (const transaction& t : h.transactions) all.placed.push_back(t.how == ended::aborted && at != level::opaque);
  model m;
  for (const auto& [where, value] : h.initial) m[{where.region, where.element}] = value;
  return all.extend(m);
}

}  // namespace gputm::history::test
