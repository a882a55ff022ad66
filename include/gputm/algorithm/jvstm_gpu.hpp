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
// Semantics: strictly serialisable and opaque. Transactions that say that they are read-only abort only
// when a version they want has been overwritten. Progress: some commit always succeeds.
#pragma once

#include "gputm/algorithm/snapshot_transaction.hpp"
#include "gputm/parts/commit_record.hpp"

namespace gputm::algorithm {

struct jvstm_gpu : multi_version {
  static constexpr const char* name = "jvstm_gpu";
  static constexpr algorithm_traits traits{.opaque = true, .multi_version = true, .logs_read_only = false};

  static constexpr std::size_t launch_bytes(const memory_options& o, const parts::log_capacity& c) {
    return parts::commit_record<>::bytes(o.record_entries, c.writes);
  }

  template <unsigned K>
  class transaction;
};

template <unsigned K>
class jvstm_gpu::transaction : public snapshot_transaction<K> {
  using base = snapshot_transaction<K>;
  using base::env_;
  using base::log_;

  GPUTM_INLINE parts::commit_record<> record() const {
    return {reinterpret_cast<std::uint64_t*>(env_.launch_memory), env_.globals.record_entries,
            env_.logs.capacity.writes};
  }

 public:
  GPUTM_INLINE explicit transaction(const typename base::environment& env) : base(env) {}

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
    const parts::time_stamp time = this->time();
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

 private:
  GPUTM_INLINE bool validate_against(std::uint64_t stamp) {
    return this->passed(record().check(stamp, [&](std::uint64_t key) { return log_.touched(key); }));
  }
};

static_assert(Algorithm<jvstm_gpu>);

}  // namespace gputm::algorithm
