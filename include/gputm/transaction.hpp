// Floor 4: the transaction as a body sees it: one attempt at a time, checked, over any algorithm.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "gputm/algorithm/concept.hpp"
#include "gputm/gather.hpp"
#include "gputm/outcome.hpp"
#include "gputm/parts/control.hpp"
#include "gputm/parts/load_each.hpp"
#include "gputm/parts/words.hpp"

namespace gputm {

/// What a body's first parameter can do. Bodies constrain it: template <gputm::Transaction Tx>.
template <class Tx>
concept Transaction = requires(Tx& tx, element<int> e) {
  { tx.load(e) } -> std::same_as<loaded<int>>;
};

/// A body that never stores says so:  static constexpr bool read_only = true;
template <class Body>
inline constexpr bool always_read_only = requires {
  requires Body::read_only;
};

/// A body may say it input by input:  bool read_only(input) const.
template <class Body, class... Inputs>
inline constexpr bool says_read_only = requires(const Body& b, const Inputs&... in) {
  { b.read_only(in...) } -> std::same_as<bool>;
};

namespace detail {

template <class Body>
concept names_read_only = requires {
  &Body::read_only;
};
template <class Body>
concept has_constant_read_only = requires {
  requires std::is_same_v<decltype(&Body::read_only), const bool*>;
};
/// Whether a member that is called read_only, if there is one that can be named, is one of the two.
template <class Body, class... Inputs>
inline constexpr bool means_read_only =
    !names_read_only<Body> || has_constant_read_only<Body> || says_read_only<Body, Inputs...>;

template <class Body, class = void>
struct result_of {
  struct type {};
};
template <class Body>
struct result_of<Body, std::void_t<typename Body::result_type>> {
  using type = typename Body::result_type;
};

template <class Body>
constexpr unsigned inline_entries_of() {
  if constexpr (requires { Body::inline_entries; }) return Body::inline_entries;
  return 4;
}

}  // namespace detail

/// Log entries of each kind that a body's transactions keep in registers:
///   static constexpr unsigned inline_entries = 2;   (default 4)
template <class Body>
inline constexpr unsigned inline_entries = detail::inline_entries_of<Body>();

/// What went wrong in an attempt on data that may be inconsistent: reported only if its reads validate.
struct pending_fault {
  parts::fault kind = parts::fault::none;
  std::uint32_t region = 0;
  std::uint64_t a = 0, b = 0;
};

/// One attempt of a body. Stm: the algorithm's transaction. ReadOnly: known when compiling. Result: the
/// body's result_type. Recorder: sees every access (see history.hpp).
template <class Stm, bool Opaque, bool ReadOnly, class Result, class Recorder>
class attempt {
  Stm& stm_;
  const region_table& regions_;
  Recorder& recorder_;
  const parts::log_capacity capacity_;
  Result result_{};
  pending_fault fault_;
  std::uint32_t loads_ = 0, check_at_ = 64, counted_ = 0;
  std::uint32_t lost_ = 0;  ///< while counting, bit k: of array k not all stores were kept
  bool read_only_, failed_ = false;
  static_assert(max_regions <= 32);

  static constexpr std::uint32_t count_at_most = 1u << 20;

 public:
  GPUTM_INLINE attempt(Stm& stm, const region_table& regions, Recorder& recorder, const parts::log_capacity& capacity,
                       bool read_only)
      : stm_(stm), regions_(regions), recorder_(recorder), capacity_(capacity), read_only_(read_only) {}

  /// Reads an element. Not ok after a conflict.
  template <class T>
  GPUTM_INLINE loaded<T> load(element<T> e) {
    loaded<T> out{};
    const region* r = locate<T>(e);
    if (!r) return out;
    const auto index = static_cast<std::uint32_t>(e.index);
    if (counting() && !may_load_on(e.handle)) return out;
    out.ok = stm_.load(*r, index, out.value);
    if (out.ok && !counting()) {
      recorder_.read(e.handle, index, out.value);
      out.ok = still_sane(1);
    } else if (counting()) {
      // what a full log fails last: the value is right
      out.ok = out.ok || stm_.reason() == abort_reason::capacity;
      failed_ = !out.ok;
    } else {
      out.ok = count_from_now(e.handle);
    }
    return out;
  }

  /// Reads the elements where(0) to where(count - 1), and calls use(k, value) for each, in that order. As many calls
  /// of load() would do the same; but loads of read-only transactions overlap, several elements for the latency of
  /// one. Not ok after a conflict: some values have been used then, so `use` changes only what the body keeps.
  template <class Where, class Use>
  GPUTM_INLINE loaded_each load_each(std::uint32_t count, Where where, Use use) {
    using T = typename decltype(where(std::uint32_t{}))::value_type;
    const bool ok = parts::load_each<T, parts::loads_at_once<Stm, T>, false, true>(
        count, read_only_, where, use,
        [this, &where](std::uint32_t k, std::uint32_t, auto& value) { return this->load_some(where, k, value); },
        [this](element<T> e) { return this->load(e); });
    return loaded_each{ok};
  }

  /// Reads the same elements, and adds each to an accumulator, which is `empty` at first: iteration::reduce_each(), so
  /// that a body can do both.
  template <class Where, class Accumulator>
  GPUTM_INLINE loaded<Accumulator> reduce_each(std::uint32_t count, Where where, const Accumulator& empty) {
    loaded<Accumulator> all{empty, false};
    all.ok = load_each(count, where, [&all](std::uint32_t k, const auto& value) { all.value.add(k, value); }).ok;
    return all;
  }

  /// Writes an element when the transaction commits. Not ok after a conflict.
  template <class T>
  GPUTM_INLINE stored store(element<T> e, stored_value<T> value) requires(!ReadOnly) {
    const region* r = locate<T>(e);
    if (!r) return stored{false};
    const auto index = static_cast<std::uint32_t>(e.index);
    if (counting()) return stored{lose(e.handle) && count()};
    if (read_only_) {
      fault_ = {parts::fault::store_in_read_only, e.handle & 255u, index, 0};
      failed_ = true;
      return stored{false};
    }
    const bool ok = stm_.store(*r, index, value);
    if (ok) recorder_.write(e.handle, index, value);
    return stored{ok || (count_from_now(e.handle) && lose(e.handle))};
  }

  /// Keeps a value for the caller of run(); only the committed attempt's counts.
  template <class R>
  GPUTM_INLINE void result(R value) {
    static_assert(std::is_convertible_v<R, Result>, "the body declares its result's type: using result_type = ...;");
    result_ = value;
  }

  // ---- for the library -------------------------------------------------------------------------
  template <class Body, class... Inputs>
  GPUTM_INLINE outcome run(const Body& body, const Inputs&... inputs) {
    static_assert(std::is_invocable_r_v<outcome, const Body&, attempt&, const Inputs&...>,
                  "a transaction's body is called as body(tx, inputs...), is const, and returns gputm::outcome");
    static_assert(detail::means_read_only<Body, Inputs...>,
                  "read_only is for  static constexpr bool read_only = true;  or  bool read_only(inputs...) const");
    return body(*this, inputs...);
  }
  GPUTM_INLINE bool failed() const { return failed_; }
  GPUTM_INLINE const Result& kept_result() const { return result_; }
  GPUTM_INLINE pending_fault fault() const {
    pending_fault f = fault_;
    if (counting()) f.a += counted_;
    return f;
  }

 private:
  template <class T>
  GPUTM_INLINE const region* locate(element<T> e) {
    if (failed_) return nullptr;
    const std::uint32_t k = e.handle & 255u;
    if (e.handle >> 8 != regions_.memory || k >= max_regions) {
      failed_ = true;
      if (counting()) return nullptr;  // beyond a full log only its size is of interest
      fault_ = {parts::fault::wrong_memory, 0, e.handle >> 8, regions_.memory};
      return nullptr;
    }
    const region& r = regions_.regions[k];
    if (e.index >= r.length) {
      failed_ = true;
      if (counting()) return nullptr;
      fault_ = {parts::fault::out_of_range, k, e.index, r.length};
      return nullptr;
    }
    return &r;
  }
  /// A doomed transaction that is not opaque may loop on what it read: it is stopped here, after `more` loads.
  GPUTM_INLINE bool still_sane(std::uint32_t more) {
    if (Opaque || (loads_ += more) < check_at_) return true;
    check_at_ *= 2;  // doubling keeps the cost linear in the number of loads
    failed_ = !stm_.validate();
    return !failed_;
  }
  /// N elements of one array at once; not_tried if load() must say what is wrong with one of them.
  template <class Where, class T, std::size_t N>
  GPUTM_INLINE parts::group_end load_some(Where& where, std::uint32_t first, T (&value)[N]) {
    const auto e = where(first);
    const std::uint32_t region_number = e.handle & 255u;
    if (failed_ || counting() || e.handle >> 8 != regions_.memory || region_number >= max_regions || !stm_.room(N))
      return parts::group_end::not_tried;
    const region& r = regions_.regions[region_number];
    std::uint32_t index[N];
    bool regular = true;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const auto x = where(first + i);
      index[i] = static_cast<std::uint32_t>(x.index);
      regular &= (x.handle == e.handle) & (x.index < r.length);
    }
    if (!regular) return parts::group_end::not_tried;
    failed_ = !stm_.load_some(r, index, value);
    if (failed_) return parts::group_end::failed;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) recorder_.read(e.handle, index[i], value[i]);
    return still_sane(N) ? parts::group_end::loaded : parts::group_end::failed;
  }
  /// After an overflow the body runs on, only to count what it would need; nothing of it takes effect.
  GPUTM_INLINE bool counting() const {
    return fault_.kind == parts::fault::read_capacity || fault_.kind == parts::fault::write_capacity;
  }
  GPUTM_INLINE bool count() { return ++counted_ < count_at_most; }
  /// While counting: a store that is not kept.
  GPUTM_INLINE bool lose(std::uint32_t handle) {
    lost_ |= 1u << (handle & 31u);
    return true;
  }
  /// While counting: whether another load can be right and is not one too many; else the body must end.
  GPUTM_INLINE bool may_load_on(std::uint32_t handle) {
    const bool one_more = fault_.kind == parts::fault::write_capacity ? ++loads_ < count_at_most : count();
    failed_ = !one_more || (lost_ >> (handle & 31u) & 1u) != 0;
    return !failed_;
  }
  /// After a failed operation: false for a conflict; true, and counting, for an overflow on valid reads.
  GPUTM_INLINE bool count_from_now(std::uint32_t handle) {
    failed_ = stm_.overflow() == parts::overflow_kind::none || !stm_.validate();
    if (failed_) return false;
    loads_ = lost_ = 0;
    const bool reads = stm_.overflow() == parts::overflow_kind::reads;
    const std::uint64_t limit = reads ? capacity_.locks() : capacity_.writes;
    fault_ = {reads ? parts::fault::read_capacity : parts::fault::write_capacity, handle & 255u, limit + 1, limit};
    return true;
  }
};

}  // namespace gputm
