// Floor 2: the reads and deferred writes of a transaction over version rings, which reads the snapshot of
// its start. Read-only transactions keep nothing.
#pragma once

#include <cstdint>

#include "gputm/parts/abort_reason.hpp"
#include "gputm/parts/access_log.hpp"
#include "gputm/parts/version_ring.hpp"

namespace gputm::parts {

/// K: entries of each log kept in registers. An element's key is its record of versions.
template <unsigned K>
class snapshot_log {
  access_log<std::uint64_t, K> log_;
  std::uint64_t snapshot_ = 0;
  std::uint32_t versions_ = 0;
  bool read_only_ = false;
  abort_reason reason_ = abort_reason::none;
  overflow_kind overflow_ = overflow_kind::none;

  GPUTM_INLINE bool full(overflow_kind which) {
    overflow_ = which;
    return fail(abort_reason::capacity);
  }

 public:
  GPUTM_INLINE void attach(const log_space& space, std::uint32_t versions) {
    log_.attach(space);
    versions_ = versions;
  }
  GPUTM_INLINE void begin(std::uint64_t snapshot, bool read_only) {
    log_.clear();
    reason_ = abort_reason::none;
    overflow_ = overflow_kind::none;
    read_only_ = read_only;
    snapshot_ = snapshot;
  }
  GPUTM_INLINE bool fail(abort_reason why) {
    reason_ = why;
    return false;
  }
  GPUTM_INLINE abort_reason reason() const { return reason_; }
  GPUTM_INLINE overflow_kind overflow() const { return overflow_; }
  GPUTM_INLINE std::uint64_t snapshot() const { return snapshot_; }
  GPUTM_INLINE bool wrote() const { return log_.write_count() != 0; }

  /// An update that meets a newer version than its snapshot fails at once, as its validation would.
  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
    std::uint64_t* key = version_ring::record_of(r, index, versions_);
    std::uint32_t entry = log_.none;
    if (!read_only_) {
      entry = log_.find(key);
      if (entry != log_.none && log_.read_own(r, index, entry, out)) return true;
    }
    const version_found found = version_ring(key, sizeof(T), versions_).read(r, index, snapshot_, out);
    if (found == version_found::overwritten) return fail(abort_reason::version_overwritten);
    if (read_only_) return true;
    if (found == version_found::older) return fail(abort_reason::read_conflict);
    if (entry != log_.none) return true;
    if (log_.locks_full()) return full(overflow_kind::reads);
    log_.add_lock(key, 0, true);
    return true;
  }
  /// load() of several elements in a read-only attempt.
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, const std::uint32_t (&index)[N], T (&out)[N]) {
    const std::uint32_t missed = version_ring::read_some(r, index, versions_, snapshot_, out);
    if (missed == 0) return true;
    bool ok = true;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i)
      if (ok && (missed >> i & 1)) ok = load(r, index[i], out[i]);
    return ok;
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
    std::uint64_t* key = version_ring::record_of(r, index, versions_);
    std::uint32_t entry = log_.find(key);
    if (entry == log_.none) {
      if (log_.locks_full()) return full(overflow_kind::reads);
      entry = log_.add_lock(key, 0, true);
    }
    return log_.write(r, index, entry, value) || full(overflow_kind::writes);
  }

  GPUTM_INLINE bool touched(std::uint64_t key) { return log_.find(reinterpret_cast<std::uint64_t*>(key)) != log_.none; }
  GPUTM_INLINE std::uint32_t keys() const { return log_.lock_count(); }
  GPUTM_INLINE std::uint32_t writes() const { return log_.write_count(); }
  /// visit(key, element address, bytes, payload) for every element written.
  template <class Visit>
  GPUTM_INLINE void each_written(Visit visit) const {
    log_.each_written([&](std::uint64_t* key, std::uint64_t element, std::uint32_t bytes, auto payload) {
      visit(reinterpret_cast<std::uint64_t>(key), element, bytes, payload);
    });
  }
  /// visit(key) for every element read and not written.
  template <class Visit>
  GPUTM_INLINE void each_only_read(Visit visit) const {
    log_.each_lock(log_.lock_count(), [&](std::uint64_t* key, std::uint64_t, bool written) {
      if (!written) visit(reinterpret_cast<std::uint64_t>(key));
      return true;
    });
  }
  /// Adds what was written as versions of commit `stamp`.
  GPUTM_INLINE void write_back(std::uint64_t stamp) const {
    log_.each_written([&](std::uint64_t* key, std::uint64_t element, std::uint32_t bytes, auto payload) {
      version_ring(key, bytes, versions_).push(stamp, element, bytes, payload);
    });
  }
};

}  // namespace gputm::parts
