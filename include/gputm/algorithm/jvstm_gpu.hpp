// JVSTM-GPU: a multi-version STM. Floor 3.
//
// Source: thesis chapter 3 (JVSTM ported to the GPU). Every element has a ring of recent versions. A
// transaction reads the snapshot of its start; read-only ones keep no log and commit without validation.
// An update commits in four steps: validate against the record (ATR) of the commits newer than its
// snapshot; insert its own entry by one CAS; write back, beside others; publish in order by raising the
// global time stamp (GTS).
//
// What differs from the text: a commit that wrote what this one writes is a conflict too, so blind writes
// are validated, and two write-backs under way never touch the same element; an update that meets a newer
// version than its snapshot aborts at once, as its validation would fail; entries and versions are read
// between two readings of their stamps.
//
// Semantics: strictly serialisable and opaque. Read-only transactions abort only when a version they want
// has been overwritten. Progress: some commit always succeeds.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/access_log.hpp"
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/time_stamp.hpp"
#include "gputm/parts/version_ring.hpp"

namespace gputm::algorithm {

struct jvstm_gpu {
  static constexpr const char* name = "jvstm_gpu";
  static constexpr algorithm_traits traits{.opaque = true, .multi_version = true, .logs_read_only = false};

  struct globals {
    std::uint64_t* time;
    std::uint32_t versions, record_entries;
  };
  static constexpr std::size_t global_bytes(const memory_options&) { return sizeof(std::uint64_t); }
  static globals make_globals(std::byte* p, const memory_options& o) {
    return {reinterpret_cast<std::uint64_t*>(p), o.versions, o.record_entries};
  }
  static constexpr std::size_t launch_bytes(const memory_options& o, const parts::log_capacity& c) {
    return parts::commit_record<>::bytes(o.record_entries, c.writes);
  }
  static constexpr std::size_t metadata_bytes(std::uint32_t length, std::uint32_t element_bytes,
                                              const memory_options& o) {
    return parts::version_ring::bytes(element_bytes, o.versions) * length;
  }

  template <unsigned K>
  class transaction;
};

template <unsigned K>
class jvstm_gpu::transaction {
  stm_environment<globals> env_;
  parts::access_log<std::uint64_t, K> log_;  // an element's key is its record of versions
  std::uint64_t snapshot_ = 0;
  bool read_only_ = false;
  abort_reason reason_ = abort_reason::none;
  parts::overflow_kind overflow_ = parts::overflow_kind::none;

  GPUTM_INLINE bool fail(abort_reason why) {
    reason_ = why;
    return false;
  }
  GPUTM_INLINE bool full(parts::overflow_kind which) {
    overflow_ = which;
    return fail(abort_reason::capacity);
  }
  GPUTM_INLINE parts::commit_record<> record() const {
    return {reinterpret_cast<std::uint64_t*>(env_.launch_memory), env_.globals.record_entries,
            env_.logs.capacity.writes};
  }
  GPUTM_INLINE std::uint64_t* key_of(const region& r, std::uint32_t index) const {
    return parts::version_ring::record_of(r, index, env_.globals.versions);
  }

 public:
  GPUTM_INLINE explicit transaction(const stm_environment<globals>& env) : env_(env) { log_.attach(env.logs); }

  GPUTM_INLINE void begin(parts::urgency, bool read_only) {
    log_.clear();
    reason_ = abort_reason::none;
    overflow_ = parts::overflow_kind::none;
    read_only_ = read_only;
    snapshot_ = parts::time_stamp(*env_.globals.time).snapshot();
  }

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
    std::uint64_t* key = key_of(r, index);
    std::uint32_t entry = log_.none;
    if (!read_only_) {
      entry = log_.find(key);
      if (entry != log_.none && log_.read_own(r, index, entry, out)) return true;
    }
    const parts::version_found found =
        parts::version_ring(key, sizeof(T), env_.globals.versions).read(r, index, snapshot_, out);
    if (found == parts::version_found::overwritten) return fail(abort_reason::version_overwritten);
    if (read_only_) return true;
    if (found == parts::version_found::older) return fail(abort_reason::read_conflict);
    if (entry != log_.none) return true;
    if (log_.locks_full()) return full(parts::overflow_kind::reads);
    log_.add_lock(key, 0, true);
    return true;
  }

  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
    std::uint64_t* key = key_of(r, index);
    std::uint32_t entry = log_.find(key);
    if (entry == log_.none) {
      if (log_.locks_full()) return full(parts::overflow_kind::writes);
      entry = log_.add_lock(key, 0, true);
    }
    return log_.write(r, index, entry, value) || full(parts::overflow_kind::writes);
  }

  /// A snapshot is always consistent.
  GPUTM_INLINE bool validate() { return true; }

  GPUTM_INLINE bool commit() {
    if (log_.write_count() == 0) return true;
    const auto record = this->record();
    std::uint64_t checked = snapshot_;
    for (;;) {
      const std::uint64_t last = record.last();
      while (checked < last)
        if (!validate_against(++checked)) return false;
      if (record.reserve(last, checked + 1)) break;
      simt::backoff(32);
    }
    const std::uint64_t stamp = checked + 1;
    const parts::time_stamp time(*env_.globals.time);
    time.wait_for(record.replaced_by(stamp));  // then nobody writes to that entry any more
    record.fill(stamp, log_.write_count(), [&](auto sink) {
      log_.each_written(
          [&](std::uint64_t* key, std::uint64_t, std::uint32_t, auto) { sink(reinterpret_cast<std::uint64_t>(key)); });
    });
    log_.each_written([&](std::uint64_t* key, std::uint64_t element, std::uint32_t bytes, auto payload) {
      parts::version_ring(key, bytes, env_.globals.versions).push(stamp, element, bytes, payload);
    });
    time.publish(stamp, stamp);
    return true;
  }

  GPUTM_INLINE void abandon() {}
  GPUTM_INLINE abort_reason reason() const { return reason_; }
  GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }

 private:
  GPUTM_INLINE bool validate_against(std::uint64_t stamp) {
    const auto found = record().check(
        stamp, [&](std::uint64_t key) { return log_.find(reinterpret_cast<std::uint64_t*>(key)) != log_.none; });
    if (found == parts::record_check::clean) return true;
    return fail(found == parts::record_check::conflict ? abort_reason::read_conflict
                                                       : abort_reason::record_overwritten);
  }
};

static_assert(Algorithm<jvstm_gpu>);

}  // namespace gputm::algorithm
