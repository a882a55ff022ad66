// Floor 3: how an iteration loads and stores in a pass in place (in_place_pass.hpp) of which nobody knows what its
// iterations own: each claims whatever it accesses in arrays that are stored to.
#pragma once

#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/saving_access.hpp"

namespace gputm::speculation {

/// One iteration's. An element to which it stores becomes its own, if no other one has claimed that: then it saves what
/// was there, and stores in place. What it loads it shares with all others that load it; or makes its own as well, if
/// iterations mostly store to what they have loaded: else it would not know, when it stores, whether it alone has.
/// Whatever finds another's claim ends before it has touched the element: it is postponed, if that may be, and others
/// write down what they share; or it gives the pass away.
class claimed_access : public saving_access {
  using roles = parts::in_place_space;
  using reads = parts::postponed_space;
  const bool updates_;
  bool conflicts_ = false;
  std::uint32_t words_ = 0;             ///< of what it shares, written down
  std::uint32_t pending_ = reads::end;  ///< that goes into the next one

 public:
  GPUTM_INLINE claimed_access(const loop_environment& env, const in_place_window& w, std::uint32_t position)
      : saving_access(env, w, position), updates_(w.updates) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    if (may_be_stored_to(number, index) && !(updates_ ? own<T>(r, number, index) : share<T>(r, number, index)))
      return false;
    out = parts::read_element<T>(r, index);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t number, std::uint32_t index, const T& value) {
    if (!may_be_stored_to(number, index) || !own<T>(r, number, index)) return false;
    parts::write_element(r, index, value);
    return true;
  }

  static constexpr bool has_rows = false;
  GPUTM_INLINE bool has_strayed() const { return false; }
  GPUTM_INLINE bool exceeds() const { return false; }
  /// Of one that has failed: whether it may run again, behind the pass.
  GPUTM_INLINE bool may_be_postponed() const { return postpones() & conflicts_; }
  /// At its end. `cancelled`: it changes nothing. What it has claimed stays its own, and known to be: it may have
  /// cancelled because of what it has found there.
  GPUTM_INLINE void leave(bool cancelled) {
    if (cancelled) put_back();
    note_saved();
    if (postpones() && !updates_ && words_ < env_.in_place.postponed.slots) put_word(pending_, reads::end);
  }
  /// Behind that. Whether there is room on the list.
  GPUTM_INLINE bool postpone() const {
    before().postpone(tag_);
    // relaxed: who gets which entry
    const std::uint32_t k = simt::atomic(env_.state->in_place.postponed).fetch_add(1, simt::order::relaxed);
    if (k >= env_.in_place.postponed.most_of_pass()) return false;
    env_.in_place.postponed.put(k, position_);
    return true;
  }

 private:
  /// The roles that the element had before. It is loaded once it is claimed; so caches may get it meanwhile. Numbers of
  /// an H200, random addresses: 16 reads and writes take 8 % less, 64 3 %, five 1 %, and one 9 % more.
  template <class T>
  GPUTM_INLINE std::uint32_t claim(const region& r, std::uint64_t element, std::uint32_t index,
                                   std::uint32_t role) const {
    constexpr std::uint32_t many = 8;
    if (env_.logs.writes >= many) parts::prefetch_element<T>(r, index);
    return env_.in_place.add_role(element, role);
  }
  /// Whoever finds another's claim may wait, and others go on.
  GPUTM_INLINE bool postpones() const { return env_.in_place.postponed.most != 0; }
  /// The claim of an element that has the other role: so it would have both, as one that is wanted. Nobody else has
  /// claimed it like that in the meantime who may go by it.
  GPUTM_INLINE void take_back(std::uint64_t element, std::uint32_t role) const {
    if (postpones()) env_.in_place.remove_role(element, role);
  }
  /// Another one has claimed what it wants.
  GPUTM_INLINE bool conflict() {
    conflicts_ = true;
    return false;
  }
  /// Whether it may read the element.
  template <class T>
  GPUTM_INLINE bool share(const region& r, std::uint32_t number, std::uint32_t index) {
    const std::uint64_t key = parts::element_key(number, index);
    if (is_newest(key)) return true;
    const std::uint64_t element = env_.table.number(number, index);
    const std::uint32_t role = claim<T>(r, element, index, roles::shared);
    if ((role & roles::owned) != 0) {
      if (role == roles::owned) take_back(element, roles::shared);
      return owns(key) || conflict();
    }
    if (postpones()) write_down(static_cast<std::uint32_t>(element));
    return true;
  }
  GPUTM_INLINE void write_down(std::uint32_t element) {
    if (words_ == env_.in_place.postponed.slots) {
      // relaxed: the next kernel reads it
      simt::atomic(env_.state->in_place.unlogged).store(1, simt::order::relaxed);
    } else if (pending_ == reads::end) {
      pending_ = element;
    } else {
      put_word(pending_, element);
      pending_ = reads::end;
    }
  }
  GPUTM_INLINE void put_word(std::uint32_t first, std::uint32_t second) {
    simt::streaming_store(env_.in_place.postponed.word(words_++, position_), reads::word_of(first, second));
  }
  /// Whether the element is its own, from now on if need be; what was there before is saved.
  template <class T>
  GPUTM_INLINE bool own(const region& r, std::uint32_t number, std::uint32_t index) {
    const std::uint64_t key = parts::element_key(number, index);
    if (is_newest(key)) return true;
    const std::uint64_t element = env_.table.number(number, index);
    const std::uint32_t role = claim<T>(r, element, index, roles::owned);
    if (role == roles::shared) take_back(element, roles::owned);
    if (role != 0) return ((role & roles::owned) != 0 && owns(key)) || conflict();
    return save<T>(r, index, key);
  }
};

}  // namespace gputm::speculation
