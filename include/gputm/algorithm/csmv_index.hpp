// CSMV's server with an index of last writers in place of the record of commits. Floor 3, see csmv.hpp.
//
// No published system: the thesis' server holds a transaction against every commit since its snapshot, so that its
// work grows with the transactions in flight, and refuses those older than the record. Here it looks up each key of
// the transaction once. One warp at a time does that, for the whole batch; the others copy letters and write answers.
#pragma once

#include <cstdint>

#include "gputm/algorithm/csmv_server.hpp"

namespace gputm::algorithm {

/// Layout: a csmv_layout whose record is a commit_index. One object a thread.
template <class Layout>
class csmv_index_server : csmv_server<Layout> {
  using base = csmv_server<Layout>;
  using typename base::fates;
  using typename base::found;

  static constexpr std::uint32_t at_once = 4;  // keys whose latencies overlap

 public:
  using base::base;

  /// Every thread of the block calls it.
  GPUTM_INLINE void serve() const {
    this->run([this](std::uint32_t warp, simt::mask_t batch) { commit(warp, batch); });
  }

 private:
  GPUTM_INLINE void commit(std::uint32_t warp, simt::mask_t batch) const {
    parts::stopwatch watch;
    this->take_copies(warp, batch);
    this->record_.lock();
    const std::uint64_t last = this->record_.last();
    fates f{batch};
    this->decide_apart(f, [&](std::uint32_t t) { return look_up(this->text_of(warp, t)); });
    if (simt::lane() == 0) watch.lap(this->env_.control, phase::validation, simt::count(batch));
    enter(warp, f.live, last);
    this->record_.unlock();
    if (simt::lane() == 0) watch.lap(this->env_.control, phase::record_insert, simt::count(batch));
    this->answer_all(warp, batch, f, last);
  }
  GPUTM_INLINE found look_up(const parts::letter& l) const {
    const std::uint64_t snapshot = l.snapshot();
    const std::uint32_t keys = l.keys();
    found worst = found::clean;  // a conflict, if there is one
    GPUTM_NO_UNROLL
    for (std::uint32_t k = 0; k < keys && worst != found::conflict; k += at_once) {
      std::uint64_t key[at_once];
      l.read_some(k, keys, key);
      const found f = this->record_.check(key, keys - k, snapshot);
      if (f != found::clean) worst = f;
    }
    return worst;
  }
  /// Enters what `live` write; they become the commits after `last`.
  GPUTM_INLINE void enter(std::uint32_t warp, simt::mask_t live, std::uint64_t last) const {
    GPUTM_NO_UNROLL
    for (std::uint32_t base = 0; base < simt::warp_width(); base += this->lanes_) {
      const std::uint32_t t = base + simt::lane();
      const bool mine = t < simt::warp_width() && (live >> t & 1);
      const parts::letter l = this->text_of(warp, mine ? t : 0);
      const std::uint32_t written = mine ? l.written() : 0;
      GPUTM_NO_UNROLL
      for (std::uint32_t k = 0; simt::any(base::all, k < written); k += at_once) {
        std::uint64_t key[at_once] = {};
        if (k < written) l.read_some(k, written, key);
        this->record_.enter(key, k < written ? written - k : 0, mine ? base::stamp_of(live, t, last) : 0);
      }
    }
    simt::sync_warp(base::all);  // everybody has read the last commit
    if (simt::lane() == 0) this->record_.set_last(last + simt::count(live));
  }
};

}  // namespace gputm::algorithm
