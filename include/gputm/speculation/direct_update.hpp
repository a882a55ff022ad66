// Direct update: iterations write in place and keep what they overwrote. Floor 3. The baseline of GPU-TLS's section
// V.B: any dependence, also write-after-read and write-after-write, is a violation.
//
// Source: as gpu_tls.hpp, which names it as the port of a scheme for CPUs (its reference 5, Oancea et al.).
// What differs: an iteration owns what it writes, and shares what it reads with readers only, before it touches it.
// Whoever comes second is in violation, so that nobody ever sees a value that may be taken back.
//
// Semantics: the sequential loop's, bit for bit: the iterations below the lowest violation had no dependences on any
// other of their window; the others' writes are undone.
// Progress: if the first iteration of a window came second, it runs alone next.
#pragma once

#include "gputm/parts/owner_table.hpp"
#include "gputm/parts/write_buffer.hpp"
#include "gputm/speculation/window_thread.hpp"

namespace gputm::speculation {

/// Access of an iteration that writes in place. Its buffer holds the values before.
class direct_access {
  parts::write_buffer undo_;
  const parts::owner_table table_;
  const std::uint32_t position_;
  parts::overflow_kind overflow_ = parts::overflow_kind::none;
  parts::ownership answer_ = parts::ownership::granted;
  bool storing_ = false;

 public:
  GPUTM_INLINE direct_access(const parts::loop_log& log, const parts::owner_table& table, std::uint32_t position)
      : undo_(log), table_(table), position_(position) {}

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t number, std::uint32_t index, T& out) {
    storing_ = false;
    answer_ = table_.acquire(parts::element_key(number, index), position_, false);
    if (answer_ != parts::ownership::granted) return false;
    out = parts::read_element<T>(r, index);
    return true;
  }
  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t number, std::uint32_t index, const T& value) {
    const std::uint64_t key = parts::element_key(number, index);
    storing_ = true;
    answer_ = table_.acquire(key, position_, true);
    if (answer_ != parts::ownership::granted) return false;
    if (undo_.find(key) == undo_.none) {
      if (undo_.full()) {
        overflow_ = parts::overflow_kind::writes;
        return false;
      }
      undo_.add(key, parts::read_element<T>(r, index));
    }
    parts::write_element(r, index, value);
    return true;
  }
  /// Takes back what the attempt has written. It owns that.
  GPUTM_INLINE void undo(const region_table& regions) {
    undo_.write_back(regions);
    undo_.clear();
  }

  GPUTM_INLINE bool first() const { return position_ == 0; }
  GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }
  GPUTM_INLINE std::uint64_t write_limit() const { return undo_.log().write_capacity(); }
  GPUTM_INLINE std::uint32_t writes() const { return undo_.size(); }
  GPUTM_INLINE violation why() const {
    switch (answer_) {
      case parts::ownership::crowded: return violation::crowded;
      case parts::ownership::read_before: return violation::war;
      case parts::ownership::read_behind: return violation::raw;
      case parts::ownership::written_before: return storing_ ? violation::waw : violation::raw;
      case parts::ownership::written_behind: return storing_ ? violation::waw : violation::war;
      default: return overflow_ != parts::overflow_kind::none ? violation::capacity : violation::body;
    }
  }
};

template <class Body>
class direct_update_thread : window_thread<Body> {
  using base = window_thread<Body>;
  using base::barrier_, base::body_, base::env_, base::log, base::plan_, base::w_;
  parts::owner_table table_;

  GPUTM_INLINE void execute(std::uint32_t p) {
    direct_access a(log(p), table_, p);
    iteration_trouble trouble;
    iteration<direct_access> it(a, env_.regions, env_.limits.operations, trouble);
    const attempt_end how = it.run(body_, w_.base + p);
    ++this->executed_;
    if (how != attempt_end::commit) a.undo(env_.regions);
    log(p).set_sizes(0, a.writes());
    if (how == attempt_end::failed)
      this->fail(p, p == 0, it.fault(), a.why());
    else if (it.last())
      this->end_at(p);
  }
  GPUTM_INLINE void execute_all() {
    std::uint32_t p = simt::grid_thread_rank();
    bool has_turn = p < w_.size;
    simt::in_step lanes(has_turn);
    GPUTM_NO_UNROLL
    while (has_turn) {
      if (this->may_commit(p))
        execute(p);
      else
        log(p).set_sizes(0, 0);
      p += simt::grid_threads();
      has_turn = lanes.next(p < w_.size);
    }
  }
  /// What the iterations from `first` on have written is theirs alone, so the order does not matter.
  GPUTM_INLINE void undo_from(std::uint32_t first) {
    GPUTM_NO_UNROLL
    for (std::uint32_t p = simt::grid_thread_rank(); p < w_.size; p += simt::grid_threads()) {
      if (p < first) continue;
      const parts::loop_log mine = log(p);
      for (std::uint32_t i = 0, n = mine.write_count(); i < n; ++i) mine.write_back(env_.regions, i, mine.write_key(i));
    }
  }

 public:
  using base::base;
  GPUTM_INLINE void run() {
    GPUTM_NO_UNROLL
    while (this->begin_window(table_)) {
      execute_all();
      barrier_.wait([this] { plan_.end_pass_unchecked(this->begins()); });
      undo_from(parts::current_window(*env_.state).commits);
      barrier_.wait([this] { plan_.next(); });
      this->look_at_window();
    }
    this->flush();
  }
};

struct direct_update : engine_base {
  static constexpr const char* name = "direct_update";
  static constexpr algorithm_traits traits{.in_place_writes = true};
  static constexpr loop_traits loop{};

  template <class Body>
  static GPUTM_INLINE void run(const loop_environment& env, const Body& body) {
    direct_update_thread<Body>(env, body).run();
  }
};

static_assert(LoopEngine<direct_update>);

}  // namespace gputm::speculation
