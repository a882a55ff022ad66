// Every atomic operation, for every size and signedness, in every mode.
#include <limits>

#include "support.hpp"

namespace gputm::simt_test {
namespace {

template <class T>
class atomics : public testing::Test {
 protected:
  static constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();

  /// One thread, in every mode: the modes must agree with the language.
  void in_every_mode(const std::function<void()>& kernel) {
    for (const mode& m : every_mode()) {
      SCOPED_TRACE(m.name);
      EXPECT_OK(device.run(m.settings, 1, 1, kernel));
    }
  }
  executor device;
};

using word_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                  std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(atomics, word_types);

TYPED_TEST(atomics, load_store_exchange) {
  using T = TypeParam;
  T w = 5;
  this->in_every_mode([&] {
    const auto a = atomic(w);
    for (const T value : {this->least, this->most, T(-1), T(0), T(5)}) {
      a.store(value, order::release);
      check(a.load(order::acquire) == value, "load");
    }
    check(a.exchange(7, order::acq_rel) == 5 && a.exchange(5, order::seq_cst) == 7, "exchange");
  });
  EXPECT_EQ(w, T(5));
}

TYPED_TEST(atomics, arithmetic_wraps) {
  using T = TypeParam;
  T w = 0;
  this->in_every_mode([&] {
    const auto a = atomic(w);
    a.store(this->most, order::relaxed);
    check(a.fetch_add(1, order::relaxed) == this->most && a.load(order::relaxed) == this->least, "up");
    check(a.fetch_add(T(-1), order::relaxed) == this->least && a.load(order::relaxed) == this->most, "down");
  });
  EXPECT_EQ(w, this->most);
}

TYPED_TEST(atomics, bits) {
  using T = TypeParam;
  T w = 0;
  this->in_every_mode([&] {
    const auto a = atomic(w);
    a.store(0x0c, order::relaxed);
    check(a.fetch_or(0x0a, order::relaxed) == 0x0c && a.fetch_and(0x07, order::relaxed) == 0x0e, "or, and");
    check(a.fetch_xor(T(-1), order::relaxed) == 0x06 && a.load(order::relaxed) == T(~T(0x06)), "xor");
  });
  EXPECT_EQ(w, T(~T(0x06)));
}

TYPED_TEST(atomics, min_and_max_know_the_sign) {
  using T = TypeParam;
  T w = 0;
  this->in_every_mode([&] {
    const auto a = atomic(w);
    a.store(this->most, order::relaxed);
    check(a.fetch_min(this->least, order::relaxed) == this->most && a.load(order::relaxed) == this->least, "min");
    check(a.fetch_min(3, order::relaxed) == this->least, "min keeps");
    check(a.fetch_max(3, order::relaxed) == this->least, "max");
    const T after = a.load(order::relaxed);
    check(after == 3 && a.fetch_max(T(-1), order::relaxed) == 3, "max of -1");
    check(a.load(order::relaxed) == (std::is_signed_v<T> ? T(3) : this->most), "-1 is the largest unsigned");
  });
}

TYPED_TEST(atomics, compare_exchange) {
  using T = TypeParam;
  T w = 0;
  this->in_every_mode([&] {
    const auto a = atomic(w);
    a.store(this->least, order::relaxed);
    T expected = 1;
    check(!a.compare_exchange(expected, 2, order::acq_rel) && expected == this->least, "fails, and tells the value");
    check(a.compare_exchange(expected, T(-2), order::seq_cst) && expected == this->least, "succeeds");
    check(a.load(order::relaxed) == T(-2), "stored");
  });
  EXPECT_EQ(w, T(-2));
}

TYPED_TEST(atomics, neighbours_are_left_alone) {
  using T = TypeParam;
  alignas(8) T w[3] = {T(-1), 0, T(-1)};
  this->in_every_mode([&] {
    const auto a = atomic(w[1]);
    a.fetch_add(T(-1), order::relaxed);
    a.fetch_add(1, order::relaxed);
    plain_store(w[1], T(6));
    check(plain_load(w[1]) == 6 && a.exchange(0, order::relaxed) == 6, "plain");
    streaming_store(w[1], T(6));
    check(streaming_load(w[1]) == 6 && a.exchange(0, order::relaxed) == 6, "streaming");
  });
  EXPECT_EQ(w[0], T(-1));
  EXPECT_EQ(w[1], T(0));
  EXPECT_EQ(w[2], T(-1));
}

TYPED_TEST(atomics, no_update_is_lost) {
  using T = TypeParam;
  for (const mode& m : every_mode()) {
    SCOPED_TRACE(m.name);
    T sum = 0, high = this->least, bits = 0, cas = 0;
    EXPECT_OK(this->device.run(m.settings, 2, 20, [&] {
      atomic(sum).fetch_add(1, order::relaxed);
      atomic(high).fetch_max(static_cast<T>(grid_thread_rank()), order::relaxed);
      atomic(bits).fetch_xor(static_cast<T>(1 << (grid_thread_rank() % 7)), order::relaxed);
      for (T seen = 0; !atomic(cas).compare_exchange(seen, static_cast<T>(seen + 1), order::relaxed);) backoff();
    }));
    EXPECT_EQ(sum, T(40));
    EXPECT_EQ(high, T(39));
    EXPECT_EQ(bits, T(0x60));
    EXPECT_EQ(cas, T(40));
  }
}

struct pair {
  float a;
  std::uint32_t b;
};
struct odd {
  std::uint16_t a, b, c;
};

TEST(plain_access, moves_any_small_type) {
  executor device;
  struct alignas(8) {
    pair p;
    std::uint32_t shift;
    pair unaligned;
    odd o;
    char c;
  } memory{{1.5f, 2}, 0, {2.5f, 3}, {4, 5, 6}, 'x'};
  for (const mode& m : every_mode()) {
    SCOPED_TRACE(m.name);
    EXPECT_OK(device.run(m.settings, 1, 1, [&] {
      check(plain_load(memory.p).a == 1.5f && plain_load(memory.p).b == 2, "8 bytes, aligned to 4");
      check(plain_load(memory.unaligned).a == 2.5f && plain_load(memory.unaligned).b == 3, "across a boundary of 8");
      check(plain_load(memory.o).b == 5 && plain_load(memory.o).c == 6, "6 bytes");
      plain_store(memory.unaligned, pair{2.5f, 3});
      plain_store(memory.o, odd{4, 5, 6});
      check(plain_load(memory.unaligned).b == 3 && plain_load(memory.o).c == 6, "stored");
      check(plain_load(memory.c) == 'x', "1 byte");
    }));
  }
}

TEST(atomics_outside_of_kernels, are_plain_atomics) {
  std::uint32_t w = 1;
  EXPECT_EQ(atomic(w).fetch_add(2, order::seq_cst), 1u);
  EXPECT_EQ(atomic(w).load(order::acquire), 3u);
  fence(order::seq_cst);
  plain_store(w, 9u);
  EXPECT_EQ(plain_load(w), 9u);
}

}  // namespace
}  // namespace gputm::simt_test
