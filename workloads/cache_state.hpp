// What must hold of a cache when nobody is at work in it. Plain host C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cache.hpp"

namespace gputm::workloads {

/// The elements of a cache, copied to the host.
struct cache_state {
  std::uint32_t ways;
  std::vector<item_info> info;
  std::vector<cache_key> keys;
  std::vector<cache_value> values;
};

/// How many slots break which rule.
struct cache_report {
  std::uint64_t items = 0;      ///< valid slots
  std::uint64_t twice = 0;      ///< whose key is in the same set once more
  std::uint64_t misplaced = 0;  ///< whose key belongs into another set, or has another tag
  std::uint64_t torn = 0;       ///< whose value is not whole, or not the key's
  std::uint64_t nowhere = 0;    ///< whose value nobody has put there
  std::uint64_t gaps = 0;       ///< valid slots behind one that is not
  std::uint64_t halves = 0;     ///< slots that were never used, by their metadata, and have a key or a value

  bool ok() const { return (twice | misplaced | torn | nowhere | gaps | halves) == 0; }
  std::string text() const {
    std::string t = std::to_string(items) + " items";
    const auto add = [&](std::uint64_t n, const char* what) {
      if (n) t += ", " + std::to_string(n) + what;
    };
    if (ok()) return t + ", no key twice, every value whole and its key's";
    add(twice, " with a key that its set has twice");
    add(misplaced, " in the wrong set or under the wrong tag");
    add(torn, " with a value that is not whole or not the key's");
    add(nowhere, " that nobody has put there");
    add(gaps, " behind an empty slot");
    add(halves, " keys or values without metadata");
    return t;
  }
};

namespace detail {

/// Keys of the valid slots of one set that another one has, too.
inline std::uint64_t duplicates(const cache_state& s, std::size_t first, std::vector<cache_key>& sorted) {
  const auto less = [](const cache_key& a, const cache_key& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  };
  sorted.clear();
  for (std::size_t k = first; k < first + s.ways; ++k)
    if (s.info[k].valid()) sorted.push_back(s.keys[k]);
  std::sort(sorted.begin(), sorted.end(), less);
  std::uint64_t n = 0;
  for (std::size_t k = 1; k < sorted.size(); ++k) n += sorted[k].is(sorted[k - 1]);
  return n;
}

}  // namespace detail

/// Looks at every slot. `issued(key, number)`: has PUT `number` been given this key?
template <class Issued>
cache_report inspect(const cache_state& s, Issued issued) {
  cache_report r;
  const auto sets = static_cast<std::uint32_t>(s.info.size() / s.ways);
  std::vector<cache_key> sorted;
  for (std::uint32_t set = 0; set < sets; ++set) {
    const std::size_t first = std::size_t{set} * s.ways;
    r.twice += detail::duplicates(s, first, sorted);
    bool gap = false;
    for (std::size_t k = first; k < first + s.ways; ++k) {
      if (!s.info[k].valid()) {
        gap = true;
        r.halves += !s.keys[k].is({}) || s.values[k].check != 0;
        continue;
      }
      ++r.items;
      r.gaps += gap;
      r.misplaced += cache::set_of(s.keys[k], sets) != set || cache::tag_of(s.keys[k]) != s.info[k].tag;
      const bool whole = is_whole(s.keys[k], s.values[k]);
      r.torn += !whole;
      r.nowhere += whole && !issued(s.keys[k], s.values[k].number);
    }
  }
  return r;
}

}  // namespace gputm::workloads
