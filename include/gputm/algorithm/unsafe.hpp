// Unsafe: no synchronisation at all. Floor 3. A lower bound on the cost of a workload, and an upper bound
// on what any algorithm can reach. Its results are wrong under contention, and it is marked as such.
//
// Semantics: none. Stores go straight to memory; a cancelled transaction keeps those it made.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/words.hpp"

namespace gputm::algorithm {

struct unsafe {
  static constexpr const char* name = "unsafe";
  static constexpr algorithm_traits traits{.in_place_writes = true,
                                           .keeps_stores = true,
                                           .isolated = false,
                                           .launches_overlap = true,
                                           .logs_read_only = false};
  struct globals {};
  static constexpr std::size_t global_bytes(const memory_options&) { return 0; }
  static globals make_globals(std::byte*, const memory_options&) { return {}; }
  static constexpr std::size_t metadata_bytes(std::uint32_t, std::uint32_t, const memory_options&) { return 0; }

  template <unsigned K>
  struct transaction {
    GPUTM_INLINE explicit transaction(const stm_environment<globals>&) {}
    GPUTM_INLINE void begin(parts::urgency, bool) {}
    template <class T>
    GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
      out = parts::load_element<T>(r, index, simt::order::relaxed);
      return true;
    }
    template <class T>
    GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
      parts::store_element(r, index, value);
      return true;
    }
    GPUTM_INLINE bool validate() { return true; }
    GPUTM_INLINE bool commit() { return true; }
    GPUTM_INLINE void abandon() {}
    GPUTM_INLINE abort_reason reason() const { return abort_reason::none; }
    GPUTM_INLINE parts::overflow_kind overflow() const { return parts::overflow_kind::none; }
  };
};

static_assert(Algorithm<unsafe>);

}  // namespace gputm::algorithm
