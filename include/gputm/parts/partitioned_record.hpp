// Floor 2: the part of a record of commits that one of several server blocks has: each has every n-th entry in its own
// shared memory, n the number of servers. Who commits takes places for its stamps in one word that all share; each
// server fills in those that are its own.
//
// Source: thesis section 6.1 (i).
#pragma once

#include <cstdint>

#include "gputm/parts/batch_watch.hpp"
#include "gputm/parts/commit_record.hpp"

namespace gputm::parts {

/// Trivially copyable. The functions of commit_record, for the places of this part, numbered without gaps; last() and
/// reserve() are about stamps.
class partitioned_record : commit_record<simt::scope::block> {
  using order = simt::order;
  using part = commit_record<simt::scope::block>;

  std::uint64_t* last_;  // taken, of all parts; in memory that all servers reach
  server_rank server_;

 public:
  GPUTM_INLINE partitioned_record(const part& mine, std::uint64_t* last, server_rank server)
      : part(mine), last_(last), server_(server) {}

  /// Of the commits up to `stamp`, how many are in this part: the place of the last of them.
  GPUTM_INLINE std::uint64_t place(std::uint64_t stamp) const {
    return (stamp + server_.of - 1 - server_.number) / server_.of;
  }
  /// The commit that has a place here.
  GPUTM_INLINE std::uint64_t stamp(std::uint64_t place) const { return (place - 1) * server_.of + server_.number + 1; }
  /// Whether this commit has one.
  GPUTM_INLINE bool holds(std::uint64_t stamp) const { return (stamp - 1) % server_.of == server_.number; }

  /// As commit_record's, with the commits up to `last`; the first server opens what is shared. Then a barrier of all
  /// servers.
  GPUTM_INLINE void open(std::uint64_t last, bool first, std::uint32_t rank, std::uint32_t threads) const {
    part::open(place(last), first, rank, threads);
    if (first && rank == 0) *last_ = last;
  }
  GPUTM_INLINE std::uint64_t last() const {
    return simt::atomic(*last_).load(order::relaxed);  // who looks at entries up to there waits until they are complete
  }
  GPUTM_INLINE bool reserve(std::uint64_t last, std::uint64_t until) const {
    return simt::atomic(*last_).compare_exchange(last, until, order::relaxed);
  }

  using part::back;
  using part::each_key;
  using part::entries;
  using part::expect;
  using part::fill;
  using part::overwritten_up_to;
  using part::prepare;
  using part::slot_of;
  using part::wait_for_replaced;
  /// Of the places of a batch none may be here.
  GPUTM_INLINE void complete(std::uint64_t first, std::uint64_t last) const {
    if (first <= last) part::complete(first, last);
  }
};

}  // namespace gputm::parts
