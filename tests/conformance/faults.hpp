// What a body does wrong is an exception that says where and by how much; the memory stays whole and usable.
// What it does wrong because it saw an inconsistent state is nobody's business.
#pragma once

#include "atomicity.hpp"
#include "gputm/run.hpp"

namespace gputm::conformance {

enum class wrongdoing : std::uint32_t { none, reads, read_only_reads, writes, writes_and_index, index, memory, store };

/// Transfers, of which some go wrong.
struct misbehaving {
  array<int> balance;
  array<int> inventory;
  array<int> foreign;
  struct input {
    order_slip o;
    wrongdoing what;
  };
  GPUTM_FN bool read_only(const input& in) const {
    return in.what == wrongdoing::read_only_reads || in.what == wrongdoing::store;
  }
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, const input& in) const {
    transfer{balance}.footprint(touch, in.o);
    if (in.what == wrongdoing::reads)
      for (std::uint32_t i = 0; i < inventory.size(); ++i) touch(inventory[i]);
    if (in.what == wrongdoing::index) touch(inventory[777]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, const input& in) const {
    if (in.what == wrongdoing::reads || in.what == wrongdoing::read_only_reads) {
      for (std::uint32_t i = 0; i < inventory.size(); ++i) {
        GPUTM_TRY([[maybe_unused]] int ignored, tx.load(inventory[i]));
      }
      return gputm::commit;
    }
    if (in.what == wrongdoing::writes || in.what == wrongdoing::writes_and_index) {
      for (std::uint32_t i = 0; i < inventory.size(); ++i) {
        GPUTM_TRY(tx.store(inventory[i], 1));
      }
      if (in.what == wrongdoing::writes) return gputm::commit;
      GPUTM_TRY(const int own, tx.load(inventory[0]));
      GPUTM_TRY(tx.store(inventory[own == 1 ? 0 : 777], 1));
    }
    if (in.what == wrongdoing::index) {
      GPUTM_TRY([[maybe_unused]] int ignored, tx.load(inventory[777]));
    } else if (in.what == wrongdoing::memory) {
      GPUTM_TRY([[maybe_unused]] int ignored, tx.load(foreign[0]));
    } else if (in.what == wrongdoing::store) {
      GPUTM_TRY(tx.store(inventory[5], 1));
    }
    return transfer{balance}(tx, in.o);
  }
};

template <class A>
struct fault_scene : scene<A> {
  memory<A> other;
  array<int> balance, inventory, foreign;
  static constexpr std::uint32_t accounts = 4;

  explicit fault_scene(const venue& v) : scene<A>(v), other(v.on) {
    balance = this->tm.template allocate<int>(accounts, 100, "balance");
    inventory = this->tm.template allocate<int>(12, 0, "inventory");
    foreign = other.template allocate<int>(1, 0, "foreign");
  }
  void go(const venue& v, wrongdoing what, gputm::capacity sizes) {
    std::vector<misbehaving::input> inputs;
    for (const order_slip& o : some_orders(v, v.amount<A>(4u, 1000u, 5000u), accounts))
      inputs.push_back({o, wrongdoing::none});
    inputs[inputs.size() / 2].what = what;
    run(this->s, this->tm, inputs, misbehaving{balance, inventory, foreign}, sizes, v.shape());
  }
  /// Whole transfers happened or none, and nothing of the one that went wrong; the next run is as good as ever.
  void is_intact(const venue& v) {
    require_equal(this->total(balance), static_cast<int>(accounts) * 100, "the total after an error");
    require_equal(this->total(inventory), 0, "writes of the transaction that went wrong");
    go(v, wrongdoing::none, {.reads = 2, .writes = 2});
    require_equal(this->total(balance), static_cast<int>(accounts) * 100, "the total after the next run");
  }
};

template <class A>
void read_overflow_is_an_error(const venue& v) {
  fault_scene<A> on(v);
  // 12 elements, room for 6; a footprint has two more; what cannot be validated ends the counting
  const bool one_by_one = std::string(A::name) == "pr_stm_revalidate";
  const int all = A::traits.needs_footprint ? 14 : one_by_one ? 8 : 12;
  const std::vector<std::string> said = {"'inventory'", "about " + std::to_string(all) + " elements", "capacity is 6",
                                         std::to_string(all - 6) + " too few", "capacity.reads"};
  if (!A::traits.one_thread)
    require_throws<capacity_exceeded>([&] { on.go(v, wrongdoing::reads, {.reads = 4, .writes = 2}); }, said);
  on.is_intact(v);
  if (A::traits.logs_read_only && !A::traits.needs_footprint)
    require_throws<capacity_exceeded>([&] { on.go(v, wrongdoing::read_only_reads, {.reads = 4, .writes = 2}); }, said);
  else if (!A::traits.needs_footprint)
    on.go(v, wrongdoing::read_only_reads, {.reads = 4, .writes = 2});
  on.is_intact(v);
  on.go(v, wrongdoing::none, {.reads = 12, .writes = 2});
  if (!A::traits.needs_footprint) on.go(v, wrongdoing::reads, {.reads = 12, .writes = 2});
}

template <class A>
void write_overflow_is_an_error(const venue& v) {
  fault_scene<A> on(v);
  // the second one loads an element behind that, which it has stored to
  for (const wrongdoing what : {wrongdoing::writes, wrongdoing::writes_and_index}) {
    require_throws<capacity_exceeded>(
        [&] { on.go(v, what, {.reads = 20, .writes = 5}); },
        {"'inventory'", "about 12 entries", "capacity is 5", "7 too few", "capacity.writes"});
    on.is_intact(v);
  }
}

template <class A>
void index_out_of_range_is_an_error(const venue& v) {
  fault_scene<A> on(v);
  require_throws<index_out_of_range>([&] { on.go(v, wrongdoing::index, {.reads = 4, .writes = 2}); },
                                     {"777", "'inventory'", "12 elements"});
  on.is_intact(v);
}

template <class A>
void an_array_of_another_memory_is_an_error(const venue& v) {
  fault_scene<A> on(v);
  require_throws<invalid_argument>([&] { on.go(v, wrongdoing::memory, {.reads = 4, .writes = 2}); },
                                   {"another memory"});
  on.is_intact(v);
}

template <class A>
void a_store_in_a_read_only_transaction_is_an_error(const venue& v) {
  fault_scene<A> on(v);
  require_throws<read_only_violation>([&] { on.go(v, wrongdoing::store, {.reads = 4, .writes = 2}); },
                                      {"element 5", "'inventory'", "read-only"});
  on.is_intact(v);
}

/// Writers keep two words equal. Others need more than there is room for, and compare them behind that.
struct compares_beyond_its_room {
  array<std::uint64_t> words, many;
  alarm differ;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    if (in % 4 != 3) {
      GPUTM_TRY(const std::uint64_t x, tx.load(words[0]));
      GPUTM_TRY(tx.store(words[0], x + 1));
      GPUTM_TRY(tx.store(words[1], x + 1));
      return gputm::commit;
    }
    if (in % 8 == 3) {
      for (std::uint32_t k = 0; k < many.size(); ++k) {
        GPUTM_TRY(tx.store(many[k], 1));
      }
    } else {
      for (std::uint32_t k = 0; k < many.size(); ++k) {
        GPUTM_TRY([[maybe_unused]] const std::uint64_t ignored, tx.load(many[k]));
      }
    }
    GPUTM_TRY(const std::uint64_t x, tx.load(words[0]));
    GPUTM_TRY(const std::uint64_t y, tx.load(words[1]));
    differ.raise_if(x != y);
    return gputm::commit;
  }
};

/// Opaque attempts are so to their end, also when they only count what they would need.
template <class A>
void overflows_see_what_was_together(const venue& v) {
  scene<A> on(v);
  scratch differ(on.s, 1);
  const compares_beyond_its_room body{on.tm.template allocate<std::uint64_t>(2),
                                      on.tm.template allocate<std::uint64_t>(8), differ.alarm()};
  std::vector<std::uint32_t> inputs(v.amount<A>(12u, 400u, 4000u));
  for (std::uint32_t k = 0; k < inputs.size(); ++k) inputs[k] = k;
  require_throws<capacity_exceeded>([&] { run(on.s, on.tm, inputs, body, {.reads = 2, .writes = 2}, v.shape()); }, {});
  require_equal(differ.value(), 0u, "attempts that saw two words differ which are always equal");
}

/// Two words are always equal. A body that sees them differ does every wrong thing there is, and loops.
struct easily_upset {
  array<std::uint32_t> words;
  using result_type = std::uint32_t;
  template <class Touch>
  GPUTM_FN void footprint(Touch& touch, std::uint32_t) const {
    for (std::uint32_t i = 0; i < words.size(); ++i) touch(words[i]);
  }
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, std::uint32_t in) const {
    const std::uint32_t last = words.size() - 1;
    GPUTM_TRY(std::uint32_t a, tx.load(words[0]));
    GPUTM_TRY(std::uint32_t b, tx.load(words[last]));
    if (in % 2 == 0) {
      for (std::uint32_t i = 0; i <= last; ++i) {
        GPUTM_TRY(tx.store(words[i], a + 1));
      }
      return gputm::commit;
    }
    tx.result(a == b);
    if (in % 8 == 1) {
      GPUTM_TRY([[maybe_unused]] std::uint32_t ignored, tx.load(words[last * (1 + 100 * (b - a))]));
    }
    while (in % 8 == 3 && a != b) {
      GPUTM_TRY([[maybe_unused]] std::uint32_t ignored, tx.load(words[last]));
    }
    for (std::uint32_t i = 0; in % 8 == 5 && a != b; ++i) {
      GPUTM_TRY([[maybe_unused]] std::uint32_t ignored, tx.load(words[i % (last + 1)]));
    }
    if (a != b) return gputm::cancel;
    return gputm::commit;
  }
};

template <class A>
void inconsistent_states_upset_nobody(const venue& v) {
  scene<A> on(v);
  auto words = on.tm.template allocate<std::uint32_t>(v.pick({2u, 8u, 64u}));
  std::vector<std::uint32_t> inputs(v.amount<A>(4u, 3000u, 6000u));
  dice d(v.seed);
  for (std::uint32_t& in : inputs) in = d.below(8);
  const auto done =
      run(on.s, on.tm, inputs, easily_upset{words}, {.reads = words.size() + 2, .writes = words.size()}, v.shape());
  require_equal(done.stats.commits, inputs.size(), "commits");
  for (std::size_t k = 0; k < inputs.size(); ++k)
    require(inputs[k] % 2 == 0 || done.results[k], "a transaction committed on an inconsistent state");
}

}  // namespace gputm::conformance
