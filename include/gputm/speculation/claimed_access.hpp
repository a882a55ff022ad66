// Floor 3: how an iteration loads and stores in a pass in place (in_place_pass.hpp) of which nobody knows what its
// iterations own: each claims whatever it accesses in arrays that are stored to.
#pragma once

#include "gputm/speculation/concept.hpp"
#include "gputm/speculation/ranged_access.hpp"

namespace gputm::speculation {

/// What positions have saved in such a pass: a number of slots, and their keys.
struct saved_by_claims {
  static GPUTM_INLINE std::uint32_t all(const loop_environment& env) { return env.logs.writes; }
  static GPUTM_NOINLINE void put_back(const loop_environment& env, std::uint32_t p, std::uint32_t saved) {
    const parts::saved_values before(env.in_place.saved, p);
    parts::latest_region array(env.regions);
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < saved; ++slot) before.put_back(array, slot, before.key(slot));
  }
};

/// One iteration's. An element to which it stores becomes its own, if no other one has claimed that: then it saves what
/// was there, and stores in place. What it loads it shares with all others that load it; or makes its own as well, if
/// iterations mostly store to what they have loaded: else it would not know, when it stores, whether it alone has.
/// Whatever finds another's claim gives the pass away, before it has touched the element.
class claimed_access : public ranged_access {
  using roles = parts::in_place_space;
  const bool updates_;
  std::uint32_t owned_ = 0;                        ///< elements
  std::uint64_t newest_ = parts::owned_list::end;  ///< the key of the last one, once there is one

 public:
  GPUTM_INLINE claimed_access(const loop_environment& env, const in_place_window& w, std::uint32_t position)
      : ranged_access(env, w, position), updates_(w.updates) {}

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
  /// At its end. `cancelled`: it changes nothing; what it has claimed nobody else gets.
  GPUTM_INLINE void leave(bool cancelled) {
    if (cancelled) {
      saved_by_claims::put_back(env_, position_, owned_);
      owned_ = 0;
    }
    if (owned_ == saved_by_claims::all(env_)) return;
    before().set_bits(tag_, owned_);
    before().set_key(owned_, parts::owned_list::end);
  }

 private:
  GPUTM_INLINE parts::saved_values before() const { return {env_.in_place.saved, position_}; }
  /// The roles that it had before. An element is loaded once it is claimed; so caches may get it meanwhile. Numbers of
  /// an H200, random addresses: 16 reads and writes take 8 % less, 64 3 %, five 1 %, and one 9 % more.
  template <class T>
  GPUTM_INLINE std::uint32_t claim(const region& r, std::uint32_t number, std::uint32_t index,
                                   std::uint32_t role) const {
    constexpr std::uint32_t many = 8;
    if (env_.logs.writes >= many) simt::prefetch(r.data + std::uint64_t{index} * sizeof(T));
    return env_.in_place.add_role(env_.table.number(number, index), role);
  }
  /// Whether it may read the element.
  template <class T>
  GPUTM_INLINE bool share(const region& r, std::uint32_t number, std::uint32_t index) const {
    return (claim<T>(r, number, index, roles::shared) & roles::owned) == 0 || owns(parts::element_key(number, index));
  }
  /// Whether the element is its own, from now on if need be; what was there before is saved.
  template <class T>
  GPUTM_INLINE bool own(const region& r, std::uint32_t number, std::uint32_t index) {
    const std::uint64_t key = parts::element_key(number, index);
    if (key == newest_) return true;
    const std::uint32_t role = claim<T>(r, number, index, roles::owned);
    if (role != 0) return (role & roles::owned) != 0 && owns(key);
    if (owned_ == saved_by_claims::all(env_)) return false;
    before().set(owned_, parts::read_element<T>(r, index));
    before().set_key(owned_, key);
    ++owned_;
    newest_ = key;
    return true;
  }
  GPUTM_INLINE bool owns(std::uint64_t key) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < owned_; ++slot)
      if (before().key(slot) == key) return true;
    return false;
  }
};

}  // namespace gputm::speculation
