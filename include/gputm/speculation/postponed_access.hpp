// Floor 3: how iterations load and store that a pass by claims has postponed (postponed_pass.hpp): two ways, one
// behind the other. Few threads run them, which wait for one latency after another; so whatever can be under way
// together is.
#pragma once

#include "gputm/parts/key_filter.hpp"
#include "gputm/parts/writer_table.hpp"
#include "gputm/speculation/saving_access.hpp"

namespace gputm::speculation {

/// A round of the pass.
struct postponed_round {
  parts::writer_table table;  ///< with the round's tag
  std::uint32_t more;         ///< writer_table::more_tags()

  GPUTM_INLINE void reserve(std::uint64_t element, std::uint32_t p) const { table.reserve(element, p, more); }
  GPUTM_INLINE bool is_reserved_for(std::uint64_t element, std::uint32_t p) const {
    return table.is_reserved_for(element, p, more);
  }
};

/// Changes nothing. Shows what the iteration accesses in arrays that are stored to; it does not see its own stores.
template <class Show>
class showing_access : public ranged_access {
  Show& show_;

 public:
  GPUTM_INLINE showing_access(const loop_environment& env, const in_place_window& w, std::uint32_t position, Show& show)
      : ranged_access(env, w, position), show_(show) {}
  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    out = parts::read_element<T>(r, index);
    if (may_be_stored_to(number, index)) show_(env_.table.number(number, index), position_);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region&, std::uint32_t number, std::uint32_t index, const T&) {
    const bool may = may_be_stored_to(number, index);
    if (may) show_(env_.table.number(number, index), position_);
    return may;
  }
};

/// Runs the iteration, in place, as far as everything is reserved for it. It stores to what is wanted only; and loads
/// that, or what nobody stores to.
class reserved_access : public saving_access {
  using roles = parts::in_place_space;
  const postponed_round& round_;
  const parts::writer_table done_;
  bool waits_ = false;
  parts::key_filter<27> keys_;  ///< of what it owns

 public:
  /// `done`: its marks tell the highest one that has had an element for itself.
  GPUTM_INLINE reserved_access(const loop_environment& env, const in_place_window& w, std::uint32_t position,
                               const postponed_round& round, const parts::writer_table& done)
      : saving_access(env, w, position), round_(round), done_(done) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    if (may_be_stored_to(number, index)) {
      const element e = look_at<T>(r, number, index);
      if (e.role == roles::owned || (e.role == roles::wanted && !take(e, number, index))) return false;
    }
    out = parts::read_element<T>(r, index);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t number, std::uint32_t index, const T& value) {
    if (!may_be_stored_to(number, index)) return false;
    const std::uint64_t key = parts::element_key(number, index);
    if (!is_newest(key)) {
      const element e = look_at<T>(r, number, index);
      if (e.role != roles::wanted || !take(e, number, index) || (!has(key) && !save<T>(r, index, key))) return false;
    }
    parts::write_element(r, index, value);
    return true;
  }
  /// Of one that has failed: something is not reserved for it, but for a lower one, yet.
  GPUTM_INLINE bool waits() const { return waits_; }
  /// At its end. `counts`: what it has stored takes effect.
  GPUTM_INLINE void leave(bool counts) {
    if (!counts) put_back();
    before().set_bits(tag_, counts ? saved() : 0);
  }

 private:
  struct element {
    std::uint32_t role;
    bool is_mine;
  };
  /// It is loaded if nothing is wrong with that; so caches may get it meanwhile.
  template <class T>
  GPUTM_INLINE element look_at(const region& r, std::uint32_t number, std::uint32_t index) const {
    parts::prefetch_element<T>(r, index);
    const std::uint64_t e = env_.table.number(number, index);
    return {env_.in_place.role(e), round_.is_reserved_for(e, position_)};
  }
  /// Whether it owns the element, mostly without a look at its list; if not, it will.
  GPUTM_INLINE bool has(std::uint64_t key) {
    const bool may = keys_.perhaps(key);
    keys_.add(key);
    return may && owns(key);
  }
  /// Whether it has the element for itself.
  GPUTM_INLINE bool take(const element& e, std::uint32_t number, std::uint32_t index) {
    waits_ = !e.is_mine;
    if (e.is_mine) done_.mark_write(parts::element_key(number, index), position_);
    return e.is_mine;
  }
};

}  // namespace gputm::speculation
