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
#include "gputm/parts/commit_record.hpp"
#include "gputm/parts/snapshot_log.hpp"
#include "gputm/parts/time_stamp.hpp"

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
  parts::snapshot_log<K> log_;

  GPUTM_INLINE parts::commit_record<> record() const {
    return {reinterpret_cast<std::uint64_t*>(env_.launch_memory), env_.globals.record_entries,
            env_.logs.capacity.writes};
  }

 public:
  static constexpr unsigned loads_at_once = 4;  // more would not fit into registers

  GPUTM_INLINE explicit transaction(const stm_environment<globals>& env) : env_(env) {
    log_.attach(env.logs, env.globals.versions);
  }

  GPUTM_INLINE void begin(parts::urgency, bool read_only) {
    log_.begin(parts::time_stamp(*env_.globals.time).snapshot(), read_only);
  }
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

  GPUTM_INLINE bool commit() {
    if (!log_.wrote()) return true;
    parts::stopwatch watch;
    const auto record = this->record();
    std::uint64_t checked = log_.snapshot();
    for (;;) {
      const std::uint64_t last = record.last();
      while (checked < last)
        if (!validate_against(++checked)) return false;
      if (record.reserve(last, checked + 1)) break;
      simt::backoff(32);
    }
    watch.lap(env_.control, phase::validation);
    const std::uint64_t stamp = checked + 1;
    const parts::time_stamp time(*env_.globals.time);
    time.wait_for(record.replaced_by(stamp));  // then nobody writes to that entry any more
    record.fill(stamp, log_.writes(), [&](auto sink) {
      log_.each_written([&](std::uint64_t key, std::uint64_t, std::uint32_t, auto) { sink(key); });
    });
    watch.lap(env_.control, phase::record_insert);
    log_.write_back(stamp);
    time.publish(stamp, stamp);
    watch.lap(env_.control, phase::write_back);
    return true;
  }

  GPUTM_INLINE void abandon() {}
  GPUTM_INLINE abort_reason reason() const { return log_.reason(); }
  GPUTM_INLINE parts::overflow_kind overflow() const { return log_.overflow(); }

 private:
  GPUTM_INLINE bool validate_against(std::uint64_t stamp) {
    const auto found = record().check(stamp, [&](std::uint64_t key) { return log_.touched(key); });
    if (found == parts::record_check::clean) return true;
    return log_.fail(found == parts::record_check::conflict ? abort_reason::read_conflict
                                                            : abort_reason::record_overwritten);
  }
};

static_assert(Algorithm<jvstm_gpu>);

}  // namespace gputm::algorithm
