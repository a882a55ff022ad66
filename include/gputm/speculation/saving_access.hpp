// Floor 3: what iterations have in common that store in place where nobody knows beforehand what they own: they save
// what was there, and its keys.
#pragma once

#include "gputm/parts/owned_list.hpp"
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

/// One iteration's.
class saving_access : public ranged_access {
  std::uint32_t owned_ = 0;                        ///< elements
  std::uint64_t newest_ = parts::owned_list::end;  ///< the key of the last one, once there is one

 protected:
  using ranged_access::ranged_access;
  GPUTM_INLINE parts::saved_values before() const { return {env_.in_place.saved, position_}; }
  GPUTM_INLINE bool is_newest(std::uint64_t key) const { return key == newest_; }
  GPUTM_INLINE bool owns(std::uint64_t key) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t slot = 0; slot < owned_; ++slot)
      if (before().key(slot) == key) return true;
    return false;
  }
  /// The element, which becomes its own. Whether there is room.
  template <class T>
  GPUTM_INLINE bool save(const region& r, std::uint32_t index, std::uint64_t key) {
    if (owned_ == saved_by_claims::all(env_)) return false;
    before().set(owned_, parts::read_element<T>(r, index));
    before().set_key(owned_, key);
    ++owned_;
    newest_ = key;
    return true;
  }
  GPUTM_INLINE std::uint32_t saved() const { return owned_; }
  GPUTM_INLINE void put_back() const { saved_by_claims::put_back(env_, position_, owned_); }
  /// Tells how much it has saved, unless that is as much as it can.
  GPUTM_INLINE void note_saved() const {
    if (owned_ == saved_by_claims::all(env_)) return;
    before().set_bits(tag_, owned_);
    before().set_key(owned_, parts::owned_list::end);
  }
};

}  // namespace gputm::speculation
