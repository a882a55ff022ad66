// Sequential: one transaction after another, on one thread. Floor 3. The baseline that says what
// concurrency gains, and the model that results are compared with.
//
// Semantics: serial. Stores are deferred, so that a cancelled transaction changes nothing.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/access_log.hpp"

namespace gputm::algorithm {

struct sequential {
  static constexpr const char* name = "sequential";
  static constexpr algorithm_traits traits{.opaque = true, .one_thread = true, .logs_read_only = false};
  struct globals {};
  static constexpr std::size_t global_bytes(const memory_options&) { return 0; }
  static globals make_globals(std::byte*, const memory_options&) { return {}; }
  static constexpr std::size_t metadata_bytes(std::uint32_t, std::uint32_t, const memory_options&) { return 0; }

  template <unsigned K>
  class transaction {
    // Every element is its own lock that nobody else wants: its address is the key.
    parts::access_log<std::byte, K> log_;
    parts::overflow_kind overflow_ = parts::overflow_kind::none;

    template <class T>
    static GPUTM_INLINE std::byte* key_of(const region& r, std::uint32_t index) {
      return reinterpret_cast<std::byte*>(parts::words_at<T>(r, index));
    }
    GPUTM_INLINE bool full(parts::overflow_kind which) {
      overflow_ = which;
      return false;
    }

   public:
    GPUTM_INLINE explicit transaction(const stm_environment<globals>& env) { log_.attach(env.logs); }
    GPUTM_INLINE void begin(parts::urgency, bool) {
      log_.clear();
      overflow_ = parts::overflow_kind::none;
    }
    template <class T>
    GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
      if (log_.write_count() != 0) {
        const std::uint32_t entry = log_.find(key_of<T>(r, index));
        if (entry != log_.none && log_.read_own(r, index, entry, out)) return true;
      }
      out = parts::load_element<T>(r, index, simt::order::relaxed);
      return true;
    }
    template <class T>
    GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
      std::uint32_t entry = log_.find(key_of<T>(r, index));
      if (entry == log_.none) {
        if (log_.locks_full()) return full(parts::overflow_kind::reads);
        entry = log_.add_lock(key_of<T>(r, index), 0, true);
      }
      return log_.write(r, index, entry, value) || full(parts::overflow_kind::writes);
    }
    GPUTM_INLINE bool validate() { return true; }
    GPUTM_INLINE bool commit() {
      log_.write_back();
      return true;
    }
    GPUTM_INLINE void abandon() {}
    GPUTM_INLINE abort_reason reason() const { return abort_reason::none; }
    GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }
  };
};

static_assert(Algorithm<sequential>);

}  // namespace gputm::algorithm
