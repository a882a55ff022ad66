// A set-associative cache in transactional memory, after MemcachedGPU (thesis section 5.1): keys of 16 bytes,
// values of 32, and the key's hash says which set may hold it. Slots of a set fill from the front and are never
// emptied; when all are full, the one that was used the longest time ago is overwritten.
//
// A GET is a read-only transaction. That it used an item is written down outside of it, in an array of plain
// stamps that is no transactional memory: a lost or late stamp makes the choice of a victim worse, not wrong.
#pragma once

#include <cstdint>

#include "gputm/gputm.hpp"
#include "random.hpp"

namespace gputm::workloads {

/// The key of an item; all zero in a slot that was never used.
struct cache_key {
  std::uint64_t low, high;
  GPUTM_INLINE bool is(const cache_key& other) const { return low == other.low && high == other.high; }
};
/// The key of the item with this number: the lower the more popular, which a hash of the key does not show.
GPUTM_INLINE constexpr cache_key key_of(std::uint32_t id) {
  const std::uint64_t low = mix(id + 1ull);
  return {low, mix(low ^ 0xA0761D6478BD642Full) | 1};
}

/// Who wrote it, and three words that belong to that and to the key: a value that was put together from halves of
/// two, or that lies under another key, is noticed.
struct cache_value {
  std::uint64_t number, first, second, check;
};
/// The value that PUT `number` gives the key.
GPUTM_INLINE constexpr cache_value value_of(const cache_key& key, std::uint64_t number) {
  const std::uint64_t first = mix(key.low ^ mix(number)), second = mix(key.high + first);
  return {number, first, second, mix(number ^ first ^ (second << 1))};
}
GPUTM_INLINE constexpr bool is_whole(const cache_key& key, const cache_value& v) {
  const cache_value right = value_of(key, v.number);
  return v.first == right.first && v.second == right.second && v.check == right.check;
}

/// An item's metadata. The scan of a set reads this, and a key only where the tags agree.
struct item_info {
  std::uint32_t tag;    ///< of the key's hash, with the uppermost bit set; 0: the slot was never used
  std::uint32_t stamp;  ///< when the last PUT was here
  GPUTM_INLINE constexpr bool valid() const { return tag != 0; }
};

/// How long ago, as seen at `now`; stamps may be a little in the future of who looks, and they wrap.
GPUTM_INLINE constexpr std::int32_t age(std::uint32_t now, std::uint32_t stamp) {
  return static_cast<std::int32_t>(now - stamp);
}

/// The arrays. Slot k of set s is element s * ways + k.
struct cache {
  array<item_info> info;
  array<cache_key> keys;
  array<cache_value> values;
  std::uint32_t* touched;  ///< when a GET last used each slot; racing words, ordered by nothing
  std::uint32_t sets, ways;

  static GPUTM_INLINE constexpr std::uint64_t hash(const cache_key& k) { return mix(k.low + 3 * k.high); }
  static GPUTM_INLINE constexpr std::uint32_t tag_of(const cache_key& k) {
    return static_cast<std::uint32_t>(hash(k)) | 1u << 31;
  }
  static GPUTM_INLINE constexpr std::uint32_t set_of(const cache_key& k, std::uint32_t sets) {
    return static_cast<std::uint32_t>((hash(k) >> 32) * sets >> 32);
  }
  GPUTM_INLINE std::uint32_t first_slot(const cache_key& k) const { return set_of(k, sets) * ways; }

  /// Notes that the item in this slot has been used. Relaxed: pairs with nothing, the last one wins.
  GPUTM_INLINE void touch(std::uint32_t slot, std::uint32_t now) const {
    simt::atomic(touched[slot]).store(now, simt::order::relaxed);
  }
  GPUTM_INLINE std::int32_t idle(std::uint32_t slot, const item_info& i, std::uint32_t now) const {
    // relaxed: any of the stamps that were stored will do
    const std::int32_t got = age(now, simt::atomic(touched[slot]).load(simt::order::relaxed)), put = age(now, i.stamp);
    return got < put ? got : put;
  }

  enum class place : std::uint32_t { found, free, none };
  /// Looks through the key's set. `pass(slot, info)` is called for each item on the way that is another's. The
  /// outcome is commit unless a load failed.
  template <class Tx, class Pass>
  GPUTM_INLINE outcome look(Tx& tx, const cache_key& key, place& where, std::uint32_t& slot, Pass pass) const {
    const std::uint32_t first = first_slot(key), tag = tag_of(key);
    where = place::none;
    for (std::uint32_t k = 0; k < ways; ++k) {
      slot = first + k;
      GPUTM_TRY(item_info i, tx.load(info[slot]));
      if (!i.valid()) {
        where = place::free;
        return commit;
      }
      if (i.tag == tag) {
        GPUTM_TRY(cache_key here, tx.load(keys[slot]));
        if (key.is(here)) {
          where = place::found;
          return commit;
        }
      }
      pass(slot, i);
    }
    return commit;
  }
  /// For algorithms that must know beforehand what a transaction touches: the set, by the lock of its first slot,
  /// which everybody takes who touches any of it.
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const cache_key& key) const {
    touch(info[first_slot(key)]);
  }
};

/// What a GET found.
struct cache_hit {
  cache_value value;
  std::uint32_t slot;
  bool hit;
};

/// Returns the value of a key.
struct cache_get {
  static constexpr bool read_only = true;
  using result_type = cache_hit;
  cache items;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const cache_key& key) const {
    cache::place where;
    cache_hit h{};
    if (items.look(tx, key, where, h.slot, [](std::uint32_t, const item_info&) {}) != commit) return outcome::conflict;
    h.hit = where == cache::place::found;
    if (h.hit) {
      GPUTM_TRY(cache_value v, tx.load(items.values[h.slot]));
      h.value = v;
    }
    tx.result(h);
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const cache_key& key) const {
    items.footprint(touch, key);
  }
};

/// What to put: the value is value_of(key, number).
struct put_order {
  cache_key key;
  std::uint64_t number;
  std::uint32_t now;
};

/// Gives a key its value: where the key is, else in a free slot of its set, else in place of the item that was
/// used the longest time ago.
struct cache_put {
  static constexpr std::uint32_t writes = 3;
  cache items;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const put_order& o) const {
    cache::place where;
    std::uint32_t slot, oldest = 0;
    std::int32_t longest = 0;
    bool any = false;
    const auto compare = [&](std::uint32_t at, const item_info& i) {
      const std::int32_t idle = items.idle(at, i, o.now);
      if (any && idle <= longest) return;
      any = true;
      longest = idle;
      oldest = at;
    };
    if (items.look(tx, o.key, where, slot, compare) != commit) return outcome::conflict;
    if (where == cache::place::none) slot = oldest;
    if (where != cache::place::found) {
      GPUTM_TRY(tx.store(items.keys[slot], o.key));
    }
    GPUTM_TRY(tx.store(items.info[slot], {cache::tag_of(o.key), o.now}));
    GPUTM_TRY(tx.store(items.values[slot], value_of(o.key, o.number)));
    return commit;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const put_order& o) const {
    items.footprint(touch, o.key);
  }
};

/// Elements that a transaction on a set of `ways` reads: the metadata, and the keys whose tags agree. One key of
/// 2^31 has the tag of another; room for more than eight of them in one set is never needed.
constexpr std::uint32_t cache_reads(std::uint32_t ways) { return ways + (ways < 8 ? ways : 8) + 1; }

}  // namespace gputm::workloads
