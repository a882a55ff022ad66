// CSMV's server where several blocks have a part of the record each. Floor 3, see csmv.hpp.
//
// Source: thesis section 6.1 (i). A worker warp that has a batch decides it together with the worker warps of the other
// servers that have its number (server_team), as their leader:
//   1. each holds the batch against the entries in its own part;
//   2. the leader ends those that anybody has found in conflict, and takes places for the rest by one CAS; if that
//      fails, 1. again, for the entries that are new;
//   3. each fills in those of the places that are in its part;
//   4. when all have, the leader answers the clients.
// So no insertion waits for a validation, and validations wait for insertions only.
#pragma once

#include <cstdint>

#include "gputm/algorithm/csmv_server.hpp"
#include "gputm/parts/server_team.hpp"

namespace gputm::algorithm {

/// Layout: a csmv_layout. One object a thread.
template <class Layout>
class csmv_partitioned_server : csmv_server<Layout> {
  using base = csmv_server<Layout>;
  using base::all;
  using typename base::batch_keys;
  using typename base::fates;
  using team = parts::server_team;

  team team_;  // of this warp

  /// What a worker of another server may want of this warp while it is idle.
  struct calls {
    static constexpr bool ever = true;
    csmv_partitioned_server& server;
    GPUTM_INLINE bool waiting() const { return server.team_.called(); }
    GPUTM_INLINE void work() const { server.take_part(); }
  };

 public:
  GPUTM_INLINE explicit csmv_partitioned_server(const server_environment<multi_version::globals>& env)
      : base(env), team_(Layout::team(env)) {}

  /// Every thread of the block calls it.
  GPUTM_INLINE void serve() {
    const launch_shape& shape = this->env_.shape;
    if (Layout::rank(this->env_).number == Layout::team_owner(shape) && simt::lane() == 0) team_.open();
    this->run([this](std::uint32_t warp, simt::mask_t batch) { lead(warp, batch); }, calls{*this});
    // others may still look for calls in this block's shared memory
    if (shape.cluster > 1 && simt::thread_rank() == 0) this->channel_.await_end();
  }

 private:
  GPUTM_INLINE void take_part() { decide(team_.next(), false); }

  GPUTM_INLINE void lead(std::uint32_t warp, simt::mask_t batch) {
    team_.wait_for_turn([this] { take_part(); });
    const team::step first{warp, batch, last(), false};
    team_.tell(first);
    decide(first, true);
    team_.end_turn();
  }

  /// From the first step of a batch to the last. Not inlined: idle, before its turn, or as the leader a warp does the
  /// same.
  GPUTM_NOINLINE void decide(team::step s, bool leads) {
    parts::stopwatch watch;
    const simt::mask_t batch = s.live;
    fates f{batch};
    this->take_copies(s.warp, batch);
    std::uint64_t checked = 0;
    const batch_keys keys = this->gather(s.warp, batch, checked);
    GPUTM_NO_UNROLL
    while (!s.decided) {
      this->validate(keys, s.warp, f, checked, s.last);
      checked = checked > s.last ? checked : s.last;
      if (leads) {
        s = agree(s, f);
      } else {
        team_.answer({s.live & ~f.live, f.overwritten});
        s = team_.next();
        f = {s.live};
      }
    }
    if (leads && simt::lane() == 0) watch.lap(this->env_.control, phase::validation, simt::count(batch));
    this->insert_all(s.warp, s.live, s.last);
    if (!leads) return team_.answer({});
    this->answer_all(s.warp, batch, f, s.last);
    team_.hear();  // that they read the letters no more
    if (simt::lane() == 0) watch.lap(this->env_.control, phase::record_insert, simt::count(batch));
  }
  /// The leader, after its own validation: the next step.
  GPUTM_INLINE team::step agree(const team::step& s, fates& f) {
    const team::verdict theirs = team_.hear();
    f.end(theirs.ended, theirs.overwritten);
    const bool decided = f.live == 0 || this->reserve(s.last, simt::count(f.live));
    const team::step next{s.warp, f.live, decided ? s.last : last(), decided};
    team_.tell(next);
    return next;
  }
  GPUTM_INLINE std::uint64_t last() const { return simt::shfl(all, this->record_.last(), 0); }
};

}  // namespace gputm::algorithm
