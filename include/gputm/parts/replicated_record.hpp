// Floor 2: a record of commits that several server blocks share: places are taken in a record in global memory, and
// every block holds transactions against a copy in its own shared memory, which follows.
//
// Source: thesis section 6.1 (ii), where whoever wins the CAS tells the other servers. Here they copy what is new when
// they need it: nobody waits for a server that has nothing to do.
#pragma once

#include <cstdint>

#include "gputm/parts/commit_record.hpp"

namespace gputm::parts {

/// Trivially copyable. The functions of commit_record; prepare() makes the copy follow.
class replicated_record : public whole_record {
  commit_record<simt::scope::block> near_;  // its places: of the copies
  commit_record<simt::scope::device> far_;

 public:
  GPUTM_INLINE replicated_record(const commit_record<simt::scope::block>& near,
                                 const commit_record<simt::scope::device>& far)
      : near_(near), far_(far) {}

  GPUTM_INLINE std::uint32_t entries() const {
    return near_.entries() < far_.entries() ? near_.entries() : far_.entries();
  }
  /// As commit_record's; the first server opens what is shared. Then a barrier of all servers.
  GPUTM_INLINE void open(std::uint64_t last, bool first, std::uint32_t rank, std::uint32_t threads) const {
    near_.open(last, first, rank, threads);
    if (first) far_.open(last, first, rank, threads);
  }

  GPUTM_INLINE std::uint64_t last() const { return far_.last(); }
  GPUTM_INLINE bool reserve(std::uint64_t last, std::uint64_t until) const { return far_.reserve(last, until); }
  GPUTM_INLINE void wait_for_replaced(std::uint64_t stamp) const { far_.wait_for_replaced(stamp); }
  template <class EachKey>
  GPUTM_INLINE void fill(std::uint64_t stamp, std::uint32_t count, EachKey each_key) const {
    far_.fill(stamp, count, each_key);
  }
  GPUTM_INLINE void complete(std::uint64_t first, std::uint64_t last) const { far_.complete(first, last); }

  /// Copies what is missing up to `last`, or waits for who does. All of the warp's `lanes` lanes call it.
  GPUTM_INLINE void prepare(std::uint64_t last, std::uint32_t lane, std::uint32_t lanes) const {
    constexpr simt::mask_t all = simt::full_mask;
    far_.wait_until_complete(last);
    std::uint64_t before;
    do {
      before = simt::shfl(all, near_.last(), 0);
    } while (before < last && !simt::any(all, lane == 0 && near_.reserve(before, last)));
    if (before < last) {
      simt::sync_warp(all);  // the release fences of all lanes in fill() cover the CAS of the one that took the places
      copy(before, last, lane, lanes);
    }
    near_.wait_until_complete(last);
  }
  template <std::size_t N, class Visit>
  GPUTM_INLINE void each_key(const std::uint32_t (&slot)[N], Visit visit) const {
    near_.each_key(slot, visit);
  }
  /// An entry that was overwritten while it was copied counts, too.
  GPUTM_INLINE std::uint64_t overwritten_up_to() const {
    const std::uint64_t here = near_.overwritten_up_to(), there = far_.overwritten_up_to();
    return here > there ? here : there;
  }
  GPUTM_INLINE std::uint32_t slot_of(std::uint64_t stamp) const { return near_.slot_of(stamp); }
  GPUTM_INLINE std::uint32_t back(std::uint32_t slot, std::uint32_t steps) const { return near_.back(slot, steps); }

 private:
  /// The copies of the commits after `before`, up to `last`: those that the next ones would not replace at once.
  GPUTM_INLINE void copy(std::uint64_t before, std::uint64_t last, std::uint32_t lane, std::uint32_t lanes) const {
    near_.wait_until_complete(before);  // whoever copies those still writes to these slots
    const std::uint64_t first = last - before > near_.entries() ? last - near_.entries() : before;
    for (std::uint64_t stamp = first + 1 + lane; stamp <= last; stamp += lanes) {
      const std::uint32_t slot = far_.slot_of(stamp), keys = far_.keys(slot);
      near_.fill(stamp, keys, [&](auto sink) {
        for (std::uint32_t k = 0; k < keys; ++k) sink(far_.key(slot, k));
      });
    }
    // acquire: pairs with the release fence in fill() of far_: who reads a copy of a newer entry's key, which
    // complete() orders after this, sees in overwritten_up_to() that its place has been taken
    simt::fence<simt::scope::device>(simt::order::acquire);
    simt::sync_warp(simt::full_mask);  // the release in complete() covers what all lanes have copied
    if (lane == 0) near_.complete(before + 1, last);
  }
};

}  // namespace gputm::parts
