// What the tests of the interface share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>

#include "gputm/gputm.hpp"

namespace gputm::api_test {

/// Whether `act` throws an Error, exactly, whose message has all parts.
template <class Error, class Act>
testing::AssertionResult throws(Act act, std::initializer_list<std::string> parts) {
  try {
    act();
  } catch (const std::exception& e) {
    if (typeid(e) != typeid(Error)) return testing::AssertionFailure() << "another type of exception: " << e.what();
    for (const std::string& part : parts)
      if (std::string(e.what()).find(part) == std::string::npos)
        return testing::AssertionFailure() << "no '" << part << "' in: " << e.what();
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

/// A device that counts what it gives away and has only so many bytes. `kind` may claim to be a GPU.
struct frugal final : backend {
  std::size_t budget = std::size_t{1} << 30, live = 0;
  device_kind claims = device_kind::host;
  host::executor executor;

  device_kind kind() const override { return claims; }
  std::string name() const override { return "a frugal device"; }
  std::uint32_t multiprocessors() const override { return 2; }
  std::uint32_t warp_width() const override { return 32; }
  std::uint32_t max_resident_blocks(std::uint32_t) const override { return 8; }
  void* allocate(std::size_t bytes) override {
    if (bytes > budget) throw out_of_memory("the frugal device has no " + std::to_string(bytes) + " bytes");
    budget -= bytes;
    auto* p = static_cast<std::size_t*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
    *p = bytes;
    ++live;
    return reinterpret_cast<char*>(p) + 256;
  }
  void free(void* p) noexcept override {
    void* block = static_cast<char*>(p) - 256;
    budget += *static_cast<std::size_t*>(block);
    --live;
    std::free(block);
  }
  void* create_stream() override { return nullptr; }
  void destroy_stream(void*) noexcept override {}
  void synchronize(void*) override {}
  void copy_to_device(void*, void* to, const void* from, std::size_t n) override { std::memcpy(to, from, n); }
  void copy_from_device(void*, void* to, const void* from, std::size_t n) override { std::memcpy(to, from, n); }
  void fill_zero(void*, void* p, std::size_t n) override { std::memset(p, 0, n); }
};

/// Adds its input to one element.
struct add_to {
  array<long> a;
  using result_type = long;
  template <Transaction Tx>
  GPUTM_FN outcome operator()(Tx& tx, long in) const {
    GPUTM_TRY(long x, tx.load(a[0]));
    GPUTM_TRY(tx.store(a[0], x + in));
    tx.result(x);
    return gputm::commit;
  }
};

using stm = algorithm::pr_stm;

}  // namespace gputm::api_test
