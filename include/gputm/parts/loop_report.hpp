// Floor 2: the words of a loop_state as serial sections read and write them: one thread at a time, between two rounds
// of the barrier.
#pragma once

#include <cstdint>

#include "gputm/parts/loop_state.hpp"

namespace gputm::parts {

// relaxed: barriers order what serial sections do; words that iterations change are loaded and stored as these do.
GPUTM_INLINE std::uint32_t get_word(std::uint32_t& word) { return simt::atomic(word).load(simt::order::relaxed); }
GPUTM_INLINE void set_word(std::uint32_t& word, std::uint32_t v) { simt::atomic(word).store(v, simt::order::relaxed); }
/// A word that serial sections alone write.
GPUTM_INLINE void put_word(std::uint32_t& word, std::uint64_t v) {
  simt::plain_store(word, static_cast<std::uint32_t>(v));
}
GPUTM_INLINE std::uint32_t at_most(std::uint64_t a, std::uint32_t b) {
  return a < b ? static_cast<std::uint32_t>(a) : b;
}

/// The window as the last serial section left it.
GPUTM_INLINE loop_window current_window(loop_state& s) {
  return {simt::plain_load(s.now.base),       simt::plain_load(s.now.size),     simt::plain_load(s.now.tag),
          simt::plain_load(s.now.logged),     simt::plain_load(s.now.stretch),  simt::plain_load(s.now.commits),
          simt::plain_load(s.now.all_commit), simt::plain_load(s.now.several),  simt::plain_load(s.now.clear_table),
          simt::plain_load(s.now.wary),       simt::plain_load(s.now.lists),    simt::plain_load(s.now.over),
          simt::plain_load(s.now.closing),    simt::plain_load(s.now.plain),    simt::plain_load(s.now.decided),
          simt::plain_load(s.now.again),      simt::plain_load(s.now.cut),      simt::plain_load(s.now.repair),
          simt::plain_load(s.now.from),       simt::plain_load(s.now.pending),  simt::plain_load(s.now.offset),
          simt::plain_load(s.now.mixed),      simt::plain_load(s.now.foreseen), simt::plain_load(s.now.number)};
}

GPUTM_INLINE void store_window(loop_state& s, const loop_window& w) {
  simt::plain_store(s.now.base, w.base);
  put_word(s.now.size, w.size);
  put_word(s.now.tag, w.tag);
  put_word(s.now.logged, w.logged);
  put_word(s.now.stretch, w.stretch);
  put_word(s.now.commits, w.commits);
  put_word(s.now.all_commit, w.all_commit);
  put_word(s.now.several, w.several);
  put_word(s.now.clear_table, w.clear_table);
  put_word(s.now.wary, w.wary);
  put_word(s.now.lists, w.lists);
  put_word(s.now.over, w.over);
  put_word(s.now.closing, w.closing);
  put_word(s.now.plain, w.plain);
  put_word(s.now.decided, w.decided);
  put_word(s.now.again, w.again);
  put_word(s.now.cut, w.cut);
  put_word(s.now.repair, w.repair);
  put_word(s.now.from, w.from);
  put_word(s.now.pending, w.pending);
  put_word(s.now.offset, w.offset);
  put_word(s.now.mixed, w.mixed);
  put_word(s.now.foreseen, w.foreseen);
  put_word(s.now.number, w.number);
}
/// Plain loads, so that a compiler knows that what the first window is like is the same for all threads.
GPUTM_INLINE loop_past known_past(const loop_past& past) {
  return {simt::plain_load(past.tag),
          simt::plain_load(past.calm),
          simt::plain_load(past.no_overlap),
          simt::plain_load(past.offset),
          simt::plain_load(past.moves),
          simt::plain_load(past.peeks),
          simt::plain_load(past.begin),
          simt::plain_load(past.lowest),
          simt::plain_load(past.end),
          0,
          0};
}

/// What a serial section goes by. It looks at all of it before it decides anything, and writes its window down when
/// it has: of loads that follow decisions or stores each would take a latency of its own, while all threads wait.
struct loop_report {
  loop_window w;
  loop_findings found;
  std::uint32_t violated, ended, too_long, failed, lengthy, dirty_before, ran;
  dirty_count dirty, troubled;
  std::uint32_t stretched, next_stretch;
  std::uint64_t began, stretch_ns;
  loop_past past;

  static GPUTM_INLINE loop_report of(loop_state& s, const loop_past& its_past) {
    loop_report r;
    r.w = current_window(s);
    r.found = found_in(s);
    r.violated = s.violated.get();
    r.ended = s.ended.get();
    r.too_long = s.too_long.get();
    r.failed = get_word(s.failed);
    r.dirty = dirty_count::of(simt::atomic(s.dirty).load(simt::order::relaxed));
    r.lengthy = get_word(s.lengthy);
    r.dirty_before = simt::plain_load(s.dirty_before);
    r.ran = simt::plain_load(s.ran);
    r.troubled = dirty_count::of(simt::plain_load(s.troubled));
    r.stretched = simt::plain_load(s.stretched);
    r.next_stretch = simt::plain_load(s.next_stretch);
    r.began = simt::plain_load(s.began);
    r.stretch_ns = simt::plain_load(s.stretch_ns);
    r.past = known_past(its_past);
    return r;
  }
};

}  // namespace gputm::parts
