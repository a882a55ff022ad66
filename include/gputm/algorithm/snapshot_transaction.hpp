// Floor 3: what the multi-version algorithms have in common: the memory of an array of version rings, and a
// transaction that reads the snapshot of its start. How it commits is each algorithm's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/snapshot_log.hpp"
#include "gputm/parts/time_stamp.hpp"

namespace gputm::algorithm {

/// The memory of such an algorithm: a clock, and a ring of versions for each element.
struct multi_version {
  struct globals {
    std::uint64_t* time;
    std::uint32_t versions, record_entries;
  };
  static constexpr std::size_t global_bytes(const memory_options&) { return sizeof(std::uint64_t); }
  static globals make_globals(std::byte* p, const memory_options& o) {
    return {reinterpret_cast<std::uint64_t*>(p), o.versions, o.record_entries};
  }
  static constexpr std::size_t metadata_bytes(std::uint32_t length, std::uint32_t element_bytes,
                                              const memory_options& o) {
    return parts::version_ring::bytes(element_bytes, o.versions) * length;
  }
};

/// All of an StmTransaction but its commit.
template <unsigned K>
class snapshot_transaction {
 protected:
  using environment = stm_environment<multi_version::globals>;
  environment env_;
  parts::snapshot_log<K> log_;

  GPUTM_INLINE explicit snapshot_transaction(const environment& env) : env_(env) {
    log_.attach(env.logs, env.globals.versions);
  }
  GPUTM_INLINE parts::time_stamp time() const { return parts::time_stamp(*env_.globals.time); }
  /// Fails as the record says; true if that has found nothing.
  GPUTM_INLINE bool passed(parts::record_check found) {
    if (found == parts::record_check::clean) return true;
    return log_.fail(found == parts::record_check::conflict ? abort_reason::read_conflict
                                                            : abort_reason::record_overwritten);
  }

 public:
  static constexpr unsigned loads_at_once = 8;  // more would not fit into registers

  GPUTM_INLINE void begin(parts::urgency, bool read_only) { log_.begin(time().snapshot(), read_only); }
  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
    return log_.load(r, index, out);
  }
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, const std::uint32_t (&index)[N], T (&out)[N]) {
    return log_.load_some(r, index, out);
  }
  GPUTM_INLINE bool room(std::uint32_t) const { return true; }  // read-only attempts keep nothing
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
    return log_.store(r, index, value);
  }
  /// A snapshot is always consistent.
  GPUTM_INLINE bool validate() { return true; }
  GPUTM_INLINE void abandon() {}
  GPUTM_INLINE abort_reason reason() const { return log_.reason(); }
  GPUTM_INLINE parts::overflow_kind overflow() const { return log_.overflow(); }
};

}  // namespace gputm::algorithm
