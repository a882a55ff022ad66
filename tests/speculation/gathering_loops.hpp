// A property of loops whose iterations add up rows of elements, some of them long: lanes of a warp share these.
#pragma once

#include "speculation/programs.hpp"

namespace gputm::conformance {

/// What of some elements is the same in whatever order they are added; but an element that is added twice, or as
/// another one, shows, and so does one that was added to another accumulator.
struct row_digest {
  std::uint32_t with = 0, sum = 0, most = 0;
  GPUTM_FN void add(std::uint32_t k, std::uint64_t word) {
    const auto value = static_cast<std::uint32_t>(word);
    sum += (value + 1 + with) * (2 * k + 1);
    most = most < value ? value : most;
  }
  GPUTM_FN void merge(const row_digest& other) {
    sum += other.sum;
    most = most < other.most ? other.most : most;
  }
  GPUTM_FN bool is_odd() const { return ((sum ^ most) & 1) != 0; }
};

/// The same, too large for what an iteration keeps of a row when it runs again (begun_reduction).
struct wide_digest {
  row_digest all;
  std::uint32_t unused[20] = {};
  GPUTM_FN void add(std::uint32_t k, std::uint64_t word) { all.add(k, word); }
  GPUTM_FN void merge(const wide_digest& other) { all.merge(other.all); }
};

/// Another kind, with which lanes that ask for the one above have nothing to do.
struct row_total {
  std::uint32_t sum = 0, added = 0, odd = 0;
  GPUTM_FN void add(std::uint32_t, std::uint32_t value) {
    sum += value;
    odd ^= value;
    ++added;
  }
  GPUTM_FN void merge(const row_total& other) {
    sum += other.sum;
    odd ^= other.odd;
    added += other.added;
  }
};

/// What iterations do besides, bit by bit.
inline constexpr std::uint32_t stores = 1, loads = 2, reads_other = 4, cancels = 8, twice = 16, widely = 32,
                               at_last_widely = 64;

/// An iteration adds up a row of `x`, and perhaps the same of what nobody writes, and stores what that comes to. It may
/// have stored to `x` before, and have loaded some, and may change nothing in the end. It may add up half of the row
/// beforehand, and ask only in the end whether it has that.
template <class T, class Index>
struct adds_up_rows {
  array<T> x;
  array<std::uint32_t> other;
  const std::uint32_t* first;
  const Index* index;
  const std::uint32_t *to, *what;

  template <class It>
  GPUTM_FN outcome operator()(It& it, int i) const {
    const std::uint32_t count = first[i + 1] - first[i];
    const Index* const row = index + first[i];
    std::uint32_t seen = static_cast<std::uint32_t>(i);
    std::uint32_t besides = 0, with = 0;
    if (what[i] & reads_other) {
      GPUTM_TRY(const row_total all, it.reduce_each(count, gather(other, row), row_total{}));
      besides = all.sum + all.added + all.odd;
    }
    if (what[i] & loads) {
      GPUTM_TRY(const T value, it.load(x[to[i] / 2]));
      with = static_cast<std::uint32_t>(value);
      seen += with;
    }
    if (what[i] & stores) GPUTM_TRY(it.store(x[to[i]], seen));
    bool ok = true;
    if (what[i] & twice) {
      row_digest half;
      if (what[i] & widely) {
        const auto some = it.reduce_each(count / 2, gather(x, row), wide_digest{{with + 1}});
        half = some.value.all;
        ok = some.ok;
      } else {
        const auto some = it.reduce_each(count / 2, gather(x, row), row_digest{with + 1});
        half = some.value;
        ok = some.ok;
      }
      besides += half.sum;
    }
    row_digest mine;
    if ((what[i] & (twice | widely)) == widely || (what[i] & at_last_widely)) {
      GPUTM_TRY(const wide_digest all, it.reduce_each(count, gather(x, row), wide_digest{{with}}));
      mine = all.all;
    } else {
      GPUTM_TRY(mine, it.reduce_each(count, gather(x, row), row_digest{with}));
    }
    if (!ok) return outcome::conflict;
    if ((what[i] & cancels) != 0 && mine.is_odd()) return gputm::cancel;
    seen += mine.sum ^ mine.most;
    GPUTM_TRY(it.store(x[to[i]], seen + besides));
    return gputm::commit;
  }
};

/// Rows by chance, with some long ones, of `shortest` elements or more, among short ones; sometimes the first
/// iterations only store, so that commits of theirs overlap what follows.
struct random_rows {
  std::vector<std::uint32_t> first{0}, index, to, what;
  std::uint32_t longest = 0;

  /// `kinds`: of what iterations may do besides.
  random_rows(dice& d, std::uint32_t n, std::uint32_t elements, std::uint32_t most, std::uint32_t shortest = 0,
              std::uint32_t kinds = 2 * at_last_widely) {
    const std::uint32_t long_ones = 1 + d.below(4), actions = d.below(2) == 0 ? 1 : kinds;
    const std::uint32_t quiet = d.below(3) == 0 ? n - d.below(n) : 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t count = i < quiet                 ? 0
                                  : d.below(long_ones) == 0 ? shortest + d.below(most + 1 - shortest)
                                                            : d.below(4);
      for (std::uint32_t k = 0; k < count; ++k) index.push_back(d.below(elements));
      first.push_back(static_cast<std::uint32_t>(index.size()));
      to.push_back(i < quiet ? i : d.below(elements));
      what.push_back(i < quiet ? 0 : d.below(actions));
      longest = std::max(longest, count);
    }
  }
  /// Each stores to an element of its own, and reads mostly what nobody stores to.
  void keep_apart(dice& d, std::uint32_t elements) {
    const auto n = static_cast<std::uint32_t>(to.size()), others = d.below(2) == 0 ? 4u : 24u;
    for (std::uint32_t i = 0; i < n; ++i) to[i] = i;
    for (std::uint32_t& k : index)
      if (d.below(others) != 0) k = n + d.below(elements - n);
  }
  /// Loads and stores of an iteration.
  std::uint32_t operations(std::size_t i) const {
    const std::uint32_t count = first[i + 1] - first[i], w = what[i];
    return count * (w & reads_other ? 2 : 1) + (w & loads ? 1 : 0) + (w & stores ? 1 : 0) + 1;
  }
  /// The loop over these elements, one iteration after another.
  void run(std::vector<std::uint32_t>& x, const std::vector<std::uint32_t>& other) const {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::uint32_t seen = static_cast<std::uint32_t>(i);
      row_digest mine{what[i] & loads ? x[to[i] / 2] : 0};
      seen += mine.with;
      const std::uint32_t before = x[to[i]];
      if (what[i] & stores) x[to[i]] = seen;
      row_digest half{mine.with + 1};
      row_total all;
      for (std::uint32_t k = first[i]; k < first[i + 1]; ++k) {
        mine.add(k - first[i], x[index[k]]);
        if (k - first[i] < (first[i + 1] - first[i]) / 2) half.add(k - first[i], x[index[k]]);
        all.add(k - first[i], other[index[k]]);
      }
      seen += mine.sum ^ mine.most;
      if (what[i] & reads_other) seen += all.sum + all.added + all.odd;
      if (what[i] & twice) seen += half.sum;
      x[to[i]] = (what[i] & cancels) != 0 && mine.is_odd() ? before : seen;
    }
  }
};

template <class Index>
class rows_on_device {
  buffer first_, index_, to_, what_;

 public:
  rows_on_device(const stream& s, const random_rows& rows)
      : first_(values_on(s, rows.first)),
        index_(values_on(s, std::vector<Index>(rows.index.begin(), rows.index.end()))),
        to_(values_on(s, rows.to)),
        what_(values_on(s, rows.what)) {}
  template <class T>
  adds_up_rows<T, Index> body(array<T> x, array<std::uint32_t> other) const {
    return {
        x, other, first_.as<std::uint32_t>(), index_.as<Index>(), to_.as<std::uint32_t>(), what_.as<std::uint32_t>()};
  }
};

/// So many loops over those rows, in one workspace, are as one iteration after another.
template <class E, class T, class Index>
void require_sums_of_rows(const venue& v, const random_rows& rows, std::uint32_t elements, const loop_config& c,
                          int loops) {
  const auto n = static_cast<std::int64_t>(rows.to.size());
  stream s{v.on};
  memory<E> tm{v.on};
  const auto x = tm.template allocate<T>(elements);
  const auto other = tm.template allocate<std::uint32_t>(elements, 7);
  const rows_on_device<Index> there(s, rows);
  const auto body = there.body(x, other);
  auto w = make_loop_workspace<adds_up_rows<T, Index>>(s, tm, n, c);
  std::vector<std::uint32_t> model(elements);
  const std::vector<std::uint32_t> sevens(elements, 7);
  for (int loop = 0; loop < loops; ++loop) {
    speculate_async(s, tm, w, n, body);
    w.collect(s, tm);
    rows.run(model, sevens);
    const std::vector<T> found = tm.read(s, x);
    require(std::vector<std::uint32_t>(found.begin(), found.end()) == model,
            "the sums of rows differ from the sequential loop's");
  }
}

template <class E, class T, class Index>
void gathered_rows_equal_the_sequential_loop_of(const venue& v) {
  dice d(v.seed * 49979687 + v.round);
  const std::uint32_t n = v.pick({3u, 64u, 4096u}) + d.below(v.pick({8u, 64u, 4096u}));
  const std::uint32_t elements = n + d.below(4) * n;
  const random_rows rows(d, n, elements, v.pick({75u, 100u, 3000u}));
  loop_config c = config_for(v, {.reads = 2 * rows.longest + 1, .writes = 2});
  c.in_place = false;
  if (d.below(4) == 0) c.capacity.reads = rows.longest;  // some have to wait until they are the first of a window
  if (d.below(2) == 0)
    c.first_window = n;
  else if (d.below(2) == 0)
    c.window = c.first_window = 1 + d.below(n);
  c.timed = false;
  require_sums_of_rows<E, T, Index>(v, rows, elements, c, 2);  // the second one finds the first one's marks
}

template <class E>
void gathered_rows_equal_the_sequential_loop(const venue& v) {
  if (v.round % 4 == 3)
    gathered_rows_equal_the_sequential_loop_of<E, std::uint64_t, long long>(v);
  else
    gathered_rows_equal_the_sequential_loop_of<E, std::uint32_t, std::uint32_t>(v);
}

/// An index that is not there is found, whichever lane has looked at it, and so is an iteration that does too much.
template <class E>
void gathered_rows_end_with_their_array(const venue& v) {
  dice d(v.seed * 86028121 + v.round);
  const std::uint32_t n = 2 + d.below(8), elements = 40;
  random_rows rows(d, n, elements, v.pick({60u, 60u, 900u}), 0, cancels);  // whose loads and stores are known
  if (rows.index.empty()) return;
  const bool too_much = d.below(2) == 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (rows.operations(i) > rows.operations(at)) at = i;
  if (!too_much) {
    const std::uint32_t bad = d.below(static_cast<std::uint32_t>(rows.index.size()));
    rows.index[bad] = elements + 3;
    at = static_cast<std::size_t>(std::upper_bound(rows.first.begin(), rows.first.end(), bad) - rows.first.begin() - 1);
  }
  stream s{v.on};
  memory<E> tm{v.on};
  const auto x = tm.template allocate<std::uint32_t>(elements, 0, "the array");
  const rows_on_device<std::uint32_t> there(s, rows);
  const auto body = there.body(x, x);
  loop_config c = config_for(v, {.reads = 2 * rows.longest + 1, .writes = 2});
  c.in_place = false;
  c.timed = false;
  if (d.below(2) == 0) c.window = c.first_window = c.blocks * c.threads;  // so that warps join for long rows
  const auto go = [&] { speculate(s, tm, n, body, c); };
  const std::string where = "iteration " + std::to_string(at);
  if (too_much) {
    c.longest_iteration = rows.operations(at) - 1;
    require_throws<no_progress>(go, {std::to_string(c.longest_iteration) + " loads and stores", where});
  } else {
    require_throws<index_out_of_range>(go, {"index 43", "'the array'", where});
  }
}

}  // namespace gputm::conformance
