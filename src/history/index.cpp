#include "index.hpp"

#include <utility>

#include "report.hpp"

namespace gputm::history::detail {
namespace {

using ended = transaction::ended;

bool is_relevant(const transaction& t, level at) { return t.how != ended::aborted || at == level::opaque; }

/// A read of a version that another transaction made, before the version is known.
struct outside_read {
  id element;
  std::uint64_t value;
};

class builder {
 public:
  builder(const history& h, level at, index& out) : h_(h), at_(at), out_(out) {}

  std::optional<verdict> build() {
    if (auto bad = check_stamps()) return bad;
    number_elements();
    for (id t = 0; t < h_.transactions.size(); ++t) scan(t);
    // An ambiguous value makes every other finding doubtful, so it goes first.
    if (ambiguous_) return ambiguous_;
    if (wrong_) return wrong_;
    if (auto bad = resolve_reads()) return bad;
    return resolve_final();
  }

 private:
  std::optional<verdict> check_stamps() const {
    std::size_t accesses = 0;
    for (std::size_t t = 0; t < h_.transactions.size(); ++t) {
      if (h_.transactions[t].begin > h_.transactions[t].end)
        return unusable(describe(h_, t) + " ends before it begins", {t});
      accesses += h_.transactions[t].accesses.size();
    }
    if (accesses + h_.transactions.size() > none / 8) return unusable("more accesses than the checker can number", {});
    return {};
  }

  id number(const location& at) {
    const std::uint64_t hash = mix(at.region, at.element);
    id e = element_ids_.find(hash, [&](id other) { return out_.elements[other] == at; });
    if (e != none) return e;
    e = static_cast<id>(out_.elements.size());
    element_ids_.insert(hash, e);
    out_.elements.push_back(at);
    return e;
  }

  void number_elements() {
    std::vector<std::uint64_t> initial;  // of the elements with the first numbers
    for (const auto& [at, value] : h_.initial) {
      number(at);
      initial.push_back(value);
    }
    for (const auto& [at, value] : h_.final) final_.emplace_back(number(at), value);
    for (const transaction& t : h_.transactions)
      for (const access& a : t.accesses) access_element_.push_back(number({a.region, a.element}));
    initial.resize(out_.elements.size(), 0);
    for (id e = 0; e < initial.size(); ++e) {
      out_.versions.push_back({.element = e, .value = initial[e]});
      version_ids_.insert(hash_of(e, initial[e]), e);
    }
    local_.resize(out_.elements.size());
  }

  static std::uint64_t hash_of(id element, std::uint64_t value) { return mix(element, value); }

  id version_of(id element, std::uint64_t value) const {
    return version_ids_.find(hash_of(element, value), [&](id v) {
      return out_.versions[v].element == element && out_.versions[v].value == value;
    });
  }

  // ---- one transaction by itself -------------------------------------------------------------
  /// What the transaction that is being scanned did to an element.
  struct local_state {
    id scanned = none;
    bool wrote = false, read = false;
    std::uint64_t written = 0, seen = 0;
  };

  local_state& local(id element, id t) {
    local_state& s = local_[element];
    if (s.scanned != t) s = {.scanned = t};
    return s;
  }

  void scan(id t) {
    const transaction& tx = h_.transactions[t];
    out_.relevant.push_back(is_relevant(tx, at_));
    written_.clear();
    if (out_.relevant.back()) {
      for (std::size_t i = 0; i < tx.accesses.size(); ++i) {
        const id e = access_element_[first_access_ + i];
        if (tx.accesses[i].is_write)
          scan_write(t, e, tx.accesses[i].value);
        else
          scan_read(t, e, tx.accesses[i].value);
      }
    }
    first_access_ += tx.accesses.size();
    if (tx.how == ended::committed)
      for (id e : written_) make_version(t, e);
    out_.writes.close_row();
    outside_.close_row();
  }

  void scan_write(id t, id e, std::uint64_t value) {
    local_state& s = local(e, t);
    if (!s.wrote) written_.push_back(e);
    s.wrote = true;
    s.written = value;
  }

  void scan_read(id t, id e, std::uint64_t value) {
    local_state& s = local(e, t);
    if (s.wrote) {
      if (value != s.written)
        fail(t, " read " + got(e, value) + " after it had itself written " + std::to_string(s.written) +
                    ": it must read its own write");
    } else if (s.read) {
      if (value != s.seen)
        fail(t, " read " + got(e, value) + " after it had read " + std::to_string(s.seen) + ": a non-repeatable read");
    } else {
      s.read = true;
      s.seen = value;
      outside_.items.push_back(static_cast<id>(outside_reads_.size()));
      outside_reads_.push_back({e, value});
    }
  }

  void make_version(id t, id e) {
    const local_state& s = local(e, t);
    const id old = version_of(e, s.written);
    const id made = static_cast<id>(out_.versions.size());
    if (old != none) {
      if (!ambiguous_) ambiguous_ = duplicate(old, t);
      return;
    }
    version_ids_.insert(hash_of(e, s.written), made);
    out_.versions.push_back({e, t, s.written, none, !s.read});
    out_.writes.items.push_back(made);
  }

  std::string got(id e, std::uint64_t value) const { return element_name(out_, e) + " = " + std::to_string(value); }

  void fail(id t, const std::string& what) {
    if (!wrong_) wrong_ = violation(describe(h_, t) + what, {t});
  }

  verdict duplicate(id old, id t) const {
    const version& v = out_.versions[old];
    const std::string same = got(v.element, v.value) + ", and values must identify their writers";
    if (v.writer == none) return unusable(describe(h_, t) + " wrote the initial value again, " + same, {t});
    return unusable(describe(h_, v.writer) + " and " + describe(h_, t) + " both wrote " + same, {v.writer, t});
  }

  // ---- reads ---------------------------------------------------------------------------------
  std::optional<verdict> resolve_reads() {
    std::vector<edge> reads;
    std::vector<id> made(out_.elements.size(), none);  // per element: the version made last by those scanned so far
    for (id t = 0; t < h_.transactions.size(); ++t) {
      for (id v : out_.writes[t]) made[out_.versions[v].element] = v;
      for (id r : outside_[t]) {
        const auto [element, value] = outside_reads_[r];
        const id v = version_of(element, value);
        if (v == none || out_.versions[v].writer == t) return unexplained(t, element, value);
        reads.push_back({t, v});
        if (made[element] == none || out_.versions[made[element]].writer != t) continue;
        if (out_.versions[v].next != none) return lost_update(v, t);
        out_.versions[v].next = made[element];
      }
    }
    out_.reads = by_source(h_.transactions.size(), reads);
    out_.readers = by_target(out_.versions.size(), reads);
    return {};
  }

  verdict lost_update(id v, id t) const {
    const id other = out_.versions[out_.versions[v].next].writer;
    return violation("lost update: " + describe(h_, other) + " and " + describe(h_, t) + " both read " +
                         got(out_.versions[v].element, out_.versions[v].value) + " and overwrote it",
                     {other, t});
  }

  /// No committed transaction left that value behind. Finds out where it may have come from.
  verdict unexplained(id t, id element, std::uint64_t value) const {
    const std::string read = describe(h_, t) + " read " + got(element, value);
    const location at = out_.elements[element];
    std::optional<std::size_t> unfinished;
    for (std::size_t w = 0; w < h_.transactions.size(); ++w) {
      const transaction& writer = h_.transactions[w];
      for (const access& a : writer.accesses) {
        if (!a.is_write || location{a.region, a.element} != at || a.value != value) continue;
        if (w == t) return violation(read + ", which it wrote itself only later", {t});
        if (writer.how == ended::committed)
          return violation("intermediate read: " + read + ", which " + describe(h_, w) + " overwrote itself", {t, w});
        unfinished = w;
      }
    }
    if (unfinished)
      return violation("dirty read: " + read + ", which only " + describe(h_, *unfinished) + " wrote",
                       {t, *unfinished});
    return violation("unknown value: " + read + ", which nobody wrote", {t});
  }

  // ---- the final state -----------------------------------------------------------------------
  std::optional<verdict> resolve_final() {
    out_.final_version.assign(out_.elements.size(), none);
    for (const auto& [e, value] : final_) {
      const id v = version_of(e, value);
      const std::string what = "wrong final state: " + got(e, value);
      if (v == none) return violation(what + ", which no committed transaction left there", {});
      if (out_.versions[v].next != none) {
        const id after = out_.versions[out_.versions[v].next].writer;
        return violation(what + ", which " + describe(h_, after) + " read and overwrote", {after});
      }
      out_.final_version[e] = v;
    }
    return {};
  }

  const history& h_;
  level at_;
  index& out_;
  id_table element_ids_, version_ids_;
  std::vector<std::pair<id, std::uint64_t>> final_;
  std::vector<id> access_element_;  // of all accesses of all transactions, in order
  std::size_t first_access_ = 0;
  std::vector<local_state> local_;
  std::vector<id> written_;
  rows outside_;
  std::vector<outside_read> outside_reads_;
  std::optional<verdict> ambiguous_, wrong_;
};

}  // namespace

std::optional<verdict> build_index(const history& h, level at, index& out) { return builder(h, at, out).build(); }

}  // namespace gputm::history::detail
