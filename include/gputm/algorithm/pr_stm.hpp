// PR-STM: priority-rule software transactional memory. Floor 3.
//
// Source: Shen, Sharp, Blewitt, Ushaw, Morgan: PR-STM, Euro-Par 2015, sections 2.1 to 2.4.
// Invisible reads, deferred writes, commit-time locking with lock stealing. A commit pre-locks every lock
// of the transaction (a higher priority steals from a lower one), turns the pre-locks into locks, writes
// back and raises the versions.
//
// What differs from the printed algorithm, and why:
//  - Updating transactions pre-lock and lock what they read as well as what they write, as section 2.3 says
//    in words. The printed Algorithm 1 fills the lock set in txWrite only, and so lets write skew commit.
//  - A value is read between two readings of its lock word that agree.
//  - Lock words are 64 bits wide; the paper's 32-bit word is an option (parts::paper_lock).
//
// Semantics: strictly serialisable. Opaque with a global clock (stamped versions) or by revalidating at
// every read; otherwise not opaque: a doomed transaction may see two states at once.
// Progress: nobody steals from the transaction with the highest priority among those that meet; it loses only to
// one that had locked before it came, and which may lose in turn. The starvation gate (parts/control.hpp) ends
// every such chain.
#pragma once

#include "gputm/algorithm/concept.hpp"
#include "gputm/parts/access_log.hpp"
#include "gputm/parts/lock_word.hpp"

namespace gputm::algorithm {

/// How doomed transactions are kept from seeing two states at once.
enum class opacity : std::uint8_t {
  none,         ///< they are not
  clock,        ///< versions are stamps of a global clock; a read newer than the snapshot aborts
  revalidation  ///< the whole read set is validated at every read: quadratic
};

template <class Layout = parts::wide_lock, opacity Opacity = opacity::none, class Priority = parts::priority_by_aborts>
struct basic_pr_stm {
  using word = typename Layout::word;
  static_assert(Priority::bits <= Layout::owner_bits, "the lock word has no room for this policy's priorities");
  static_assert(Opacity != opacity::clock || Layout::version_bits >= 40, "a clock needs wide versions");

  static constexpr const char* name = Opacity == opacity::none    ? "pr_stm"
                                      : Opacity == opacity::clock ? "pr_stm_opaque"
                                                                  : "pr_stm_revalidate";
  static constexpr algorithm_traits traits{
      .opaque = Opacity != opacity::none, .launches_overlap = true, .logs_read_only = Opacity != opacity::clock};

  struct globals {
    std::uint64_t* clock;  ///< stamps handed out so far
  };
  static constexpr std::size_t global_bytes(const memory_options&) { return sizeof(std::uint64_t); }
  static globals make_globals(std::byte* p, const memory_options&) { return {reinterpret_cast<std::uint64_t*>(p)}; }
  using priority = Priority;
  /// When more stamps are gone, clock and versions start over between two launches.
  static constexpr std::uint64_t renew_after = Opacity == opacity::clock ? Layout::max_version / 2 : ~std::uint64_t{0};
  static constexpr std::size_t metadata_bytes(std::uint32_t length, std::uint32_t, const memory_options& o) {
    return (((static_cast<std::size_t>(length) - 1) >> o.lock_shift()) + 1) * sizeof(word);
  }

  template <unsigned K>
  class transaction;
};

template <class Layout, opacity Opacity, class Priority>
template <unsigned K>
class basic_pr_stm<Layout, Opacity, Priority>::transaction {
  using order = simt::order;
  static constexpr bool clocked = Opacity == opacity::clock;

  stm_environment<globals> env_;
  parts::access_log<word, K> log_;
  std::uint64_t snapshot_ = 0;  // clocked: reads must not be newer
  std::uint32_t priority_ = 0;
  bool read_only_ = false;
  abort_reason reason_ = abort_reason::none;
  parts::overflow_kind overflow_ = parts::overflow_kind::none;

  GPUTM_INLINE bool fail(abort_reason why) {
    reason_ = why;
    return false;
  }
  static GPUTM_INLINE word* lock_of(const region& r, std::uint32_t index) {
    return reinterpret_cast<word*>(r.metadata) + (index >> r.lock_shift);
  }
  /// Adds the lock of something read or written.
  GPUTM_INLINE bool add(word* lock, std::uint64_t version, std::uint32_t& entry) {
    if (log_.locks_full()) {
      overflow_ = parts::overflow_kind::reads;
      return fail(abort_reason::capacity);
    }
    entry = log_.add_lock(lock, version, !read_only_);
    return true;
  }

 public:
  static constexpr unsigned loads_at_once = 8;  // more would not fit into registers

  GPUTM_INLINE explicit transaction(const stm_environment<globals>& env) : env_(env) { log_.attach(env.logs); }

  GPUTM_INLINE void begin(parts::urgency urgency, bool read_only) {
    log_.clear();
    reason_ = abort_reason::none;
    overflow_ = parts::overflow_kind::none;
    read_only_ = read_only;
    priority_ = Priority::of(urgency);
    // acquire: pairs with the release fence before a committer draws its stamp; a transaction that sees
    // the stamp sees the committer's locks
    if constexpr (clocked) snapshot_ = simt::atomic(*env_.globals.clock).load(order::acquire);
  }

  template <class T>
  GPUTM_INLINE bool load(const region& r, std::uint32_t index, T& out) {
    // what a full log has no room for cannot be validated: an attempt that counts what it needs ends here
    if (Opacity == opacity::revalidation && overflow_ == parts::overflow_kind::reads)
      return fail(abort_reason::read_conflict);
    word* lock = lock_of(r, index);
    std::uint32_t entry = log_.none;
    if (!read_only_) {
      entry = log_.find(lock);
      if (entry != log_.none && log_.read_own(r, index, entry, out)) return true;
    }
    // acquire: pairs with the release fence before the lock was freed; the value is at least as new
    const word before = simt::atomic(*lock).load(order::acquire);
    if (Layout::is_locked(before)) return fail(abort_reason::read_conflict);
    const std::uint64_t version = Layout::version(before);
    if (clocked && version > snapshot_) return fail(abort_reason::read_conflict);
    if (entry != log_.none && log_.version_of(entry) != version) return fail(abort_reason::read_conflict);
    // acquire: pairs with the release fence between locking and writing back; if the value is a
    // committer's, the next load sees its lock
    out = parts::load_element<T>(r, index, order::acquire);
    const word after = simt::atomic(*lock).load(order::relaxed);
    if (Layout::is_locked(after) || Layout::version(after) != version) return fail(abort_reason::read_conflict);
    if (clocked && (entry != log_.none || read_only_)) return true;
    // an entry may be a blind store's, made after the last validation
    if (entry == log_.none && !add(lock, version, entry)) {
      if constexpr (Opacity == opacity::revalidation) (void)validate();  // else that is why it fails
      return false;
    }
    if constexpr (Opacity == opacity::revalidation) return validate();
    return true;
  }

  /// load() of several elements in a read-only attempt: the same order of accesses, step by step for all of them.
  template <class T, std::size_t N>
  GPUTM_INLINE bool load_some(const region& r, const std::uint32_t (&index)[N], T (&out)[N]) {
    word before[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) before[i] = simt::atomic(*lock_of(r, index[i])).load(order::relaxed);
    // acquire: pairs with the release fence before a lock was freed; the values are at least as new
    simt::fence(order::acquire);
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) out[i] = parts::load_element<T>(r, index[i], order::relaxed);
    // acquire: pairs with the release fence between locking and writing back; if a value is a committer's, the
    // next loads see its lock
    simt::fence(order::acquire);
    word after[N];
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) after[i] = simt::atomic(*lock_of(r, index[i])).load(order::relaxed);
    bool current = true;
    GPUTM_UNROLL
    for (unsigned i = 0; i < N; ++i) {  // & and |: no branches between the loads
      current &= !Layout::is_locked(before[i]);
      current &= !Layout::is_locked(after[i]);
      current &= Layout::version(before[i]) == Layout::version(after[i]);
      current &= !clocked || Layout::version(before[i]) <= snapshot_;
    }
    if (!current) return fail(abort_reason::read_conflict);
    if constexpr (!clocked) {
      GPUTM_UNROLL
      for (unsigned i = 0; i < N; ++i) log_.add_lock(lock_of(r, index[i]), Layout::version(before[i]), false);
    }
    return Opacity == opacity::revalidation ? validate() : true;
  }
  GPUTM_INLINE bool room(std::uint32_t elements) const { return clocked || log_.lock_room() >= elements; }

  template <class T>
  GPUTM_INLINE bool store(const region& r, std::uint32_t index, const T& value) {
    word* lock = lock_of(r, index);
    std::uint32_t entry = log_.find(lock);
    if (entry == log_.none) {
      const word now = simt::atomic(*lock).load(order::relaxed);  // the pre-lock checks it
      if (Layout::is_locked(now)) return fail(abort_reason::write_conflict);
      if (!add(lock, Layout::version(now), entry)) return false;
    }
    if (log_.write(r, index, entry, value)) return true;
    overflow_ = parts::overflow_kind::writes;
    return fail(abort_reason::capacity);
  }

  /// Whether everything in the log is still current: then there was a moment at which all of it was.
  GPUTM_INLINE bool validate() {
    if constexpr (clocked) return true;  // every read was checked against the snapshot
    // seq_cst: pairs with the same fence of other validating transactions, so that two of them cannot
    // each miss a commit that the other has seen
    simt::fence(order::seq_cst);
    const bool current = log_.each_lock(log_.lock_count(), [&](word* lock, std::uint64_t version, bool) {
      const word now = simt::atomic(*lock).load(order::relaxed);
      return !Layout::is_locked(now) && Layout::version(now) == version;
    });
    return current || fail(abort_reason::read_conflict);
  }

  GPUTM_INLINE bool commit() {
    if (log_.write_count() == 0) return validate();
    parts::stopwatch watch;
    std::uint32_t held = 0;
    if (!prelock_all(held)) return release(held, 0);
    if (!lock_all(held)) return release(log_.lock_count(), held);
    watch.lap(env_.control, phase::validation);
    // release: pairs with the acquire load of a value in load(), and of the clock in begin()
    simt::fence(order::release);
    std::uint64_t stamp = 0;
    if constexpr (clocked) stamp = simt::atomic(*env_.globals.clock).fetch_add(1, order::relaxed) + 1;
    log_.write_back();
    // release: pairs with the acquire load of the lock word in load() and with the CAS of lock_all()
    simt::fence(order::release);
    log_.each_lock(log_.lock_count(), [&](word* lock, std::uint64_t version, bool written) {
      const std::uint64_t next = !written ? version : clocked ? stamp : Layout::next(version);
      simt::atomic(*lock).store(Layout::free(next), order::relaxed);
      return true;
    });
    watch.lap(env_.control, phase::write_back);
    return true;
  }

  /// Whether the stamps are about to leave the version's range (2^40), which only a launch can reach that
  /// draws half of them, or several that nobody collects.
  GPUTM_INLINE bool exhausted() const { return clocked && snapshot_ > Layout::max_version - 2 * parts::max_threads; }
  GPUTM_INLINE std::uint64_t stamps() const { return snapshot_; }

  GPUTM_INLINE void abandon() {}  // nothing is held outside of commit()
  GPUTM_INLINE abort_reason reason() const { return reason_; }
  GPUTM_INLINE parts::overflow_kind overflow() const { return overflow_; }

 private:
  /// tryPreLock (Algorithm 2, lines 32 to 41): on return `held` locks are, or were, pre-locked by this one.
  GPUTM_INLINE bool prelock_all(std::uint32_t& held) {
    return log_.each_lock(log_.lock_count(), [&](word* lock, std::uint64_t version, bool) {
      const word mine = Layout::prelocked(version, priority_);
      word seen = Layout::free(version);
      while (!simt::atomic(*lock).compare_exchange(seen, mine, order::relaxed)) {
        if (Layout::version(seen) != version) return fail(abort_reason::read_conflict);
        if (Layout::is_locked(seen)) return fail(abort_reason::write_conflict);
        if (Layout::is_prelocked(seen) && Layout::owner(seen) < priority_) return fail(abort_reason::write_conflict);
      }
      ++held;
      return true;
    });
  }
  /// tryLock (lines 42 to 48): a pre-lock that was stolen meanwhile fails the CAS.
  GPUTM_INLINE bool lock_all(std::uint32_t& held) {
    held = 0;
    return log_.each_lock(log_.lock_count(), [&](word* lock, std::uint64_t version, bool) {
      word mine = Layout::prelocked(version, priority_);
      // acquire: pairs with the release fence of the previous owner
      if (!simt::atomic(*lock).compare_exchange(mine, Layout::locked(version, priority_), order::acquire))
        return fail(abort_reason::lock_stolen);
      ++held;
      return true;
    });
  }
  /// releaseLocks (lines 49 to 54): the first `locked` of `prelocked` entries are locked; the others may
  /// have been stolen, and then are the thief's to free.
  GPUTM_INLINE bool release(std::uint32_t prelocked, std::uint32_t locked) {
    std::uint32_t k = 0;
    log_.each_lock(prelocked, [&](word* lock, std::uint64_t version, bool) {
      // relaxed: nothing was written under these locks; an exchange, not a store, which would end the release
      // sequence of the last commit
      if (k++ < locked) {
        simt::atomic(*lock).exchange(Layout::free(version), order::relaxed);
      } else {
        word mine = Layout::prelocked(version, priority_);
        simt::atomic(*lock).compare_exchange(mine, Layout::free(version), order::relaxed);
      }
      return true;
    });
    return false;
  }
};

/// PR-STM with wide lock words and priorities that rise with aborts.
using pr_stm = basic_pr_stm<>;
/// The same, opaque: versions are stamps of a global clock. Read-only transactions keep no log.
using pr_stm_opaque = basic_pr_stm<parts::wide_lock, opacity::clock>;
/// The same, opaque by revalidation: for comparison, see docs/algorithms/pr_stm.md.
using pr_stm_revalidate = basic_pr_stm<parts::wide_lock, opacity::revalidation>;
/// The paper's priorities: rank, for ever.
using pr_stm_static = basic_pr_stm<parts::wide_lock, opacity::none, parts::static_priority>;
/// The paper's priorities and its 32-bit lock word, whose version wraps after 2,048 commits (ABA).
using pr_stm_paper_layout = basic_pr_stm<parts::paper_lock, opacity::none, parts::static_priority>;

static_assert(Algorithm<pr_stm> && Algorithm<pr_stm_opaque> && Algorithm<pr_stm_revalidate> &&
              Algorithm<pr_stm_static> && Algorithm<pr_stm_paper_layout>);

}  // namespace gputm::algorithm
