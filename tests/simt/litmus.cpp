// Litmus tests of the weak-memory model at device scope: what C++ forbids must never be seen, and what it
// allows must be seen, or a missing fence would go unnoticed.
//
// Names as in the literature: MP message passing, SB store buffering, LB load buffering, IRIW independent
// reads of independent writes, WRC write-to-read causality, ISA2 a chain of three.
#include "support.hpp"

namespace gputm::simt_test {
namespace {

constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release, acq_rel = order::acq_rel,
                seq_cst = order::seq_cst;

class device_scope : public litmus {
 protected:
  auto x() { return atomic(m.x); }
  auto y() { return atomic(m.y); }
  auto z() { return atomic(m.z); }
  std::uint32_t r(int i) const { return m.r[i]; }

  std::uint32_t take() {
    std::uint32_t free = 0;
    return x().compare_exchange(free, 1, relaxed);
  }
  unsigned mp(order write, order read) {
    return count({[&] { x().store(1, relaxed), y().store(1, write); },
                  [&] { m.r[0] = y().load(read), m.r[1] = x().load(relaxed); }},
                 [&] { return r(0) == 1 && r(1) == 0; });
  }
  unsigned sb(order write, order read) {
    return count(
        {[&] { x().store(1, write), m.r[0] = y().load(read); }, [&] { y().store(1, write), m.r[1] = x().load(read); }},
        [&] { return r(0) == 0 && r(1) == 0; });
  }
  unsigned sb_fenced(order first, order second) {
    return count({[&] { x().store(1, relaxed), fence(first), m.r[0] = y().load(relaxed); },
                  [&] { y().store(1, relaxed), fence(second), m.r[1] = x().load(relaxed); }},
                 [&] { return r(0) == 0 && r(1) == 0; });
  }
  unsigned iriw(order write, order read, bool fenced = false) {
    const auto reader = [=, this](auto first, auto second, int into) {
      m.r[into] = first.load(read);
      if (fenced) fence(seq_cst);
      m.r[into + 1] = second.load(read);
    };
    return count(
        {[&] { x().store(1, write); }, [&] { y().store(1, write); }, [&] { reader(x(), y(), 0); },
         [&] { reader(y(), x(), 2); }},
        [&] { return r(0) == 1 && r(1) == 0 && r(2) == 1 && r(3) == 0; }, 4000);
  }
  unsigned wrc(order middle, order last) {
    return count(
        {[&] { x().store(1, relaxed); }, [&] { m.r[0] = x().load(relaxed), y().store(1, middle); },
         [&] { m.r[1] = y().load(last), m.r[2] = x().load(relaxed); }},
        [&] { return r(0) == 1 && r(1) == 1 && r(2) == 0; }, 4000);
  }
  unsigned isa2(order last) {
    return count(
        {[&] { x().store(1, relaxed), y().store(1, release); },
         [&] { m.r[0] = y().load(acquire), z().store(1, release); },
         [&] { m.r[1] = z().load(last), m.r[2] = x().load(relaxed); }},
        [&] { return r(0) == 1 && r(1) == 1 && r(2) == 0; }, 4000);
  }
};

TEST_F(device_scope, mp_needs_release_and_acquire) {
  EXPECT_GT(mp(relaxed, relaxed), 0u);
  EXPECT_GT(mp(release, relaxed), 0u);
  EXPECT_GT(mp(relaxed, acquire), 0u);
  EXPECT_EQ(mp(release, acquire), 0u);
  EXPECT_EQ(mp(seq_cst, seq_cst), 0u);
  EXPECT_EQ(mp(seq_cst, acquire), 0u);
}

TEST_F(device_scope, mp_with_fences) {
  const auto fenced = [&](order write, order read) {
    return count({[&] { x().store(1, relaxed), fence(write), y().store(1, relaxed); },
                  [&] { m.r[0] = y().load(relaxed), fence(read), m.r[1] = x().load(relaxed); }},
                 [&] { return r(0) == 1 && r(1) == 0; });
  };
  EXPECT_EQ(fenced(release, acquire), 0u);
  EXPECT_EQ(fenced(acq_rel, acq_rel), 0u);
  EXPECT_EQ(fenced(seq_cst, seq_cst), 0u);
  EXPECT_GT(fenced(acquire, acquire), 0u);
  EXPECT_GT(fenced(release, release), 0u);
}

TEST_F(device_scope, mp_with_a_fence_on_one_side) {
  EXPECT_EQ(count({[&] { x().store(1, relaxed), fence(release), y().store(1, relaxed); },
                   [&] { m.r[0] = y().load(acquire), m.r[1] = x().load(relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 0; }),
            0u);
  EXPECT_EQ(count({[&] { x().store(1, relaxed), y().store(1, release); },
                   [&] { m.r[0] = y().load(relaxed), fence(acquire), m.r[1] = x().load(relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 0; }),
            0u);
}

TEST_F(device_scope, mp_with_a_fence_in_the_wrong_place) {
  EXPECT_GT(count({[&] { x().store(1, relaxed), y().store(1, relaxed), fence(release); },
                   [&] { m.r[0] = y().load(acquire), m.r[1] = x().load(relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 0; }),
            0u);
  EXPECT_GT(count({[&] { x().store(1, relaxed), y().store(1, release); },
                   [&] { fence(acquire), m.r[0] = y().load(relaxed), m.r[1] = x().load(relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 0; }),
            0u);
}

TEST_F(device_scope, mp_through_read_modify_writes) {
  const auto through = [&](order write, order read) {
    return count({[&] { x().store(1, relaxed), (void)y().exchange(1, write); },
                  [&] { m.r[0] = y().fetch_or(0, read), m.r[1] = x().load(relaxed); }},
                 [&] { return r(0) == 1 && r(1) == 0; });
  };
  EXPECT_EQ(through(release, acquire), 0u);
  EXPECT_EQ(through(acq_rel, acq_rel), 0u);
  EXPECT_GT(through(relaxed, acquire), 0u);
  EXPECT_GT(through(release, relaxed), 0u);
}

TEST_F(device_scope, mp_through_a_failing_compare_exchange) {
  const auto through = [&](order read) {
    return count({[&] { x().store(1, relaxed), y().store(1, release); },
                  [&] {
                    std::uint32_t seen = 7;
                    (void)y().compare_exchange(seen, 8, read);
                    m.r[0] = seen, m.r[1] = x().load(relaxed);
                  }},
                 [&] { return r(0) == 1 && r(1) == 0; });
  };
  EXPECT_EQ(through(acquire), 0u);
  EXPECT_EQ(through(acq_rel), 0u);  // acquire when it fails
  EXPECT_GT(through(release), 0u);  // relaxed when it fails
}

TEST_F(device_scope, sb_needs_seq_cst) {
  EXPECT_GT(sb(relaxed, relaxed), 0u);
  EXPECT_GT(sb(release, acquire), 0u);
  EXPECT_EQ(sb(seq_cst, seq_cst), 0u);
  EXPECT_GT(sb_fenced(acq_rel, acq_rel), 0u);
  EXPECT_GT(sb_fenced(seq_cst, acq_rel), 0u);
  EXPECT_EQ(sb_fenced(seq_cst, seq_cst), 0u);
}

TEST_F(device_scope, sb_through_read_modify_writes) {
  const auto through = [&](order o) {
    return count({[&] { (void)x().exchange(1, o), m.r[0] = y().load(o == seq_cst ? seq_cst : acquire); },
                  [&] { (void)y().exchange(1, o), m.r[1] = x().load(o == seq_cst ? seq_cst : acquire); }},
                 [&] { return r(0) == 0 && r(1) == 0; });
  };
  EXPECT_GT(through(acq_rel), 0u);
  EXPECT_EQ(through(seq_cst), 0u);
}

TEST_F(device_scope, r_needs_seq_cst) {
  const auto seen = [&](order o) {
    return count({[&] { x().store(1, o), y().store(1, o); },
                  [&] { y().store(2, o), m.r[0] = x().load(o == release ? acquire : o); }},
                 [&] { return m.y == 2 && r(0) == 0; });
  };
  EXPECT_GT(seen(release), 0u);
  EXPECT_EQ(seen(seq_cst), 0u);
}

TEST_F(device_scope, coherence_of_reads) {  // CoRR
  EXPECT_EQ(count({[&] { x().store(1, relaxed), x().store(2, relaxed); },
                   [&] { m.r[0] = x().load(relaxed), m.r[1] = x().load(relaxed); }},
                  [&] { return r(1) < r(0); }),
            0u);
  EXPECT_GT(count({[&] { x().store(1, relaxed), x().store(2, relaxed); },
                   [&] { m.r[0] = x().load(relaxed), m.r[1] = x().load(relaxed); }},
                  [&] { return r(0) < r(1); }),
            0u);
}

TEST_F(device_scope, coherence_of_writes) {  // CoWW, CoWR, CoRW
  EXPECT_EQ(count({[&] { x().store(1, relaxed), x().store(2, relaxed); }}, [&] { return m.x != 2; }), 0u);
  EXPECT_EQ(count({[&] { x().store(1, relaxed), m.r[0] = x().load(relaxed); }, [&] { x().store(2, relaxed); }},
                  [&] { return r(0) == 0 || (r(0) == 2 && m.x == 1); }),
            0u);
  EXPECT_EQ(count({[&] { m.r[0] = x().load(relaxed), x().store(1, relaxed); }, [&] { x().store(2, relaxed); }},
                  [&] { return r(0) == 2 && m.x == 2; }),
            0u);
}

TEST_F(device_scope, coherence_across_threads) {  // two readers agree on the order of two writers
  EXPECT_EQ(count({[&] { x().store(1, relaxed); }, [&] { x().store(2, relaxed); },
                   [&] { m.r[0] = x().load(relaxed), m.r[1] = x().load(relaxed); },
                   [&] { m.r[2] = x().load(relaxed), m.r[3] = x().load(relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 2 && r(2) == 2 && r(3) == 1; }),
            0u);
}

TEST_F(device_scope, iriw_needs_seq_cst) {
  EXPECT_GT(iriw(relaxed, relaxed), 0u);
  EXPECT_GT(iriw(release, acquire), 0u);
  EXPECT_EQ(iriw(seq_cst, seq_cst), 0u);
  EXPECT_EQ(iriw(relaxed, relaxed, true), 0u);
}

TEST_F(device_scope, wrc_is_cumulative) {
  EXPECT_GT(wrc(relaxed, acquire), 0u);
  EXPECT_GT(wrc(release, relaxed), 0u);
  EXPECT_EQ(count(
                {[&] { x().store(1, release); }, [&] { m.r[0] = x().load(acquire), y().store(1, release); },
                 [&] { m.r[1] = y().load(acquire), m.r[2] = x().load(relaxed); }},
                [&] { return r(0) == 1 && r(1) == 1 && r(2) == 0; }, 4000),
            0u);
  EXPECT_EQ(wrc(release, acquire), 0u);  // coherence: what the middle thread has read is in what it releases
}

TEST_F(device_scope, isa2) {
  EXPECT_EQ(isa2(acquire), 0u);
  EXPECT_GT(isa2(relaxed), 0u);
}

TEST_F(device_scope, read_modify_writes_continue_a_release_sequence) {
  const auto through = [&](auto&& middle) {
    return count(
        {[&] { x().store(1, relaxed), y().store(1, release); }, middle,
         [&] { m.r[0] = y().load(acquire), m.r[1] = x().load(relaxed); }},
        [&] { return r(0) == 2 && r(1) == 0; }, 4000);
  };
  EXPECT_EQ(through([&] {
              std::uint32_t one = 1;
              (void)y().compare_exchange(one, 2, relaxed);
            }),
            0u);
  EXPECT_GT(through([&] {
              if (y().load(relaxed) == 1) y().store(2, relaxed);
            }),
            0u);
}

TEST_F(device_scope, a_long_release_sequence) {
  EXPECT_EQ(
      count(
          {[&] { x().store(1, relaxed), (void)y().fetch_add(100, release); }, [&] { (void)y().fetch_add(10, relaxed); },
           [&] { (void)y().fetch_add(1, relaxed); }, [&] { m.r[0] = y().load(acquire), m.r[1] = x().load(relaxed); }},
          [&] { return r(0) >= 100 && r(1) == 0; }, 4000),
      0u);
}

TEST_F(device_scope, one_compare_exchange_wins) {
  EXPECT_EQ(count({[&] { m.r[0] = take(); }, [&] { m.r[1] = take(); }, [&] { m.r[2] = take(); }},
                  [&] { return r(0) + r(1) + r(2) != 1; }),
            0u);
}

TEST_F(device_scope, a_failing_compare_exchange_may_be_late) {
  // The value it tells may be older than what is there; only a success is up to date.
  EXPECT_GT(count({[&] { x().store(1, relaxed), y().store(1, relaxed); },
                   [&] {
                     m.r[0] = y().load(relaxed);
                     std::uint32_t seen = 5;
                     (void)x().compare_exchange(seen, 6, relaxed);
                     m.r[1] = seen;
                   }},
                  [&] { return r(0) == 1 && r(1) == 0; }),
            0u);
}

TEST_F(device_scope, a_long_history_stays_coherent) {
  const auto write = [&] {
    for (int i = 0; i < 1000; ++i) (void)x().fetch_add(1, relaxed);
  };
  const auto read = [&] {
    for (std::uint32_t i = 0, last = 0; i < 1000; ++i) {
      const std::uint32_t now = x().load(relaxed);
      check(last <= now, "time does not run backwards");
      last = now;
    }
  };
  EXPECT_EQ(count(
                {write, write, read}, [&] { return m.x != 2000; }, 10),
            0u);
}

// The limits of the model: allowed by C++ and PTX, never seen here.
TEST_F(device_scope, load_buffering_is_not_modelled) {
  EXPECT_EQ(count({[&] { m.r[0] = y().load(relaxed), x().store(1, relaxed); },
                   [&] { m.r[1] = x().load(relaxed), y().store(1, relaxed); }},
                  [&] { return r(0) == 1 && r(1) == 1; }),
            0u);
}
TEST_F(device_scope, stores_take_effect_in_the_order_of_execution) {  // 2+2W
  EXPECT_EQ(count({[&] { x().store(1, relaxed), y().store(2, relaxed); },
                   [&] { y().store(1, relaxed), x().store(2, relaxed); }},
                  [&] { return m.x == 1 && m.y == 1; }),
            0u);
}

}  // namespace
}  // namespace gputm::simt_test
