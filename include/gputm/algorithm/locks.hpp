// Locks: fine-grained spin locks, taken in the order of their addresses before the body runs: what an
// expert writes by hand today. Floor 3.
//
// The body must say beforehand what it will touch, which transactions need not:
//   template <class Touch> GPUTM_FN void footprint(Touch& touch, input) const { touch(balance[input.from]); ... }
// Semantics: strictly serialisable, opaque, if the footprint names every access. Stores go straight to
// memory, so a body must decide to cancel before it stores.
// Progress: a short footprint is given back whole when a lock is taken (the owner of the highest lock
// never waits); a long one waits for each lock in order, so no cycle of waiting can arise.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/sorted_locks.hpp"
#include "gputm/parts/words.hpp"

namespace gputm::algorithm {

struct locks {
  static constexpr const char* name = "locks";
  static constexpr algorithm_traits traits{
      .opaque = true, .in_place_writes = true, .keeps_stores = true, .needs_footprint = true, .launches_overlap = true};
  struct globals {};
  static constexpr std::size_t global_bytes(const memory_options&) { return 0; }
  static globals make_globals(std::byte*, const memory_options&) { return {}; }
  static constexpr std::size_t metadata_bytes(std::uint32_t length, std::uint32_t, const memory_options& o) {
    return (((static_cast<std::size_t>(length) - 1) >> o.lock_shift()) + 1) * sizeof(std::uint32_t);
  }

  template <unsigned K>
  class transaction {
    using order = simt::order;
    const region_table* regions_;
    parts::sorted_locks<K> locks_;
    bool stored_ = false;
    abort_reason reason_ = abort_reason::none;
    std::uint32_t overflow_region_ = 0;

   public:
    GPUTM_INLINE explicit transaction(const stm_environment<globals>& env) : regions_(env.regions) {
      locks_.attach(env.logs);
    }
    GPUTM_INLINE void begin(parts::urgency, bool) {
      locks_.clear();
      stored_ = false;
      reason_ = abort_reason::none;
    }
    /// Takes the locks of everything the body names. False if one was taken: nothing is held then.
    template <class Body, class... Inputs>
    GPUTM_INLINE bool acquire(const Body& body, const Inputs&... inputs) {
      auto touch = [&](auto e) {
        const region& r = regions_->regions[e.handle & 255u];
        if (e.index < r.length && !locks_.add(reinterpret_cast<std::uint32_t*>(r.metadata) +
                                              (static_cast<std::uint32_t>(e.index) >> r.lock_shift)))
          overflow_region_ = e.handle & 255u;
      };
      body.footprint(touch, inputs...);
      if (locks_.overflowed()) {
        reason_ = abort_reason::capacity;
        return false;
      }
      if (!locks_.take()) return false;
      // acquire: pairs with the release fence of the locks' previous owners
      simt::fence(order::acquire);
      return true;
    }
    template <class T>
    GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
      out = parts::load_element<T>(r, index, order::relaxed);
      return true;
    }
    template <class T>
    GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
      parts::store_element(r, index, value);
      stored_ = true;
      return true;
    }
    GPUTM_INLINE bool validate() { return true; }
    GPUTM_INLINE bool commit() {
      give_back();
      return true;
    }
    GPUTM_INLINE void abandon() { give_back(); }
    GPUTM_INLINE abort_reason reason() const { return reason_; }
    GPUTM_INLINE parts::overflow_kind overflow() const { return parts::overflow_kind::none; }
    /// After acquire() has failed for want of capacity: an array concerned, and how many entries there are.
    GPUTM_INLINE std::uint32_t overflow_region() const { return overflow_region_; }
    GPUTM_INLINE std::uint64_t needed() const { return locks_.needed(); }
    /// Whether the attempt can no longer be cancelled.
    GPUTM_INLINE bool stored() const { return stored_; }

   private:
    GPUTM_INLINE void give_back() {
      // release: pairs with the acquire fence of the locks' next owners
      simt::fence(order::release);
      locks_.free_all();
    }
  };
};

static_assert(Algorithm<locks>);

}  // namespace gputm::algorithm
