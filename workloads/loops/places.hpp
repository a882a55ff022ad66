// Where the arrays of a loop live: in a gputm memory, or as plain arrays on the host. A body is written once and
// compiled for both, so that the sequential loop that a result is held against has the same source.
//
//   template <class Arrays> struct my_body {
//     typename Arrays::template of<double> y;   // shared data: gputm::array<double>, or a plain one
//     const std::uint32_t* from;                // input that no iteration changes
//     template <class It> GPUTM_FN outcome operator()(It& it, int i) const { ... it.load(y[from[i]]) ... }
//   };
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "gputm/speculate.hpp"
#include "measurement.hpp"

namespace gputm::workloads {

// ---- arithmetic

/// a * b + c with one rounding, everywhere. Bodies leave no product that a compiler could contract into a sum by
/// itself: so the flags of a build do not change what they compute, and CPU and GPU agree bit for bit.
GPUTM_INLINE double multiply_add(double a, double b, double c) {
  return GPUTM_PICK(__fma_rn(a, b, c), __builtin_fma(a, b, c));
}

// ---- on the host

template <class T>
struct plain_element {
  T* at;
};
template <class T>
struct plain_array {
  T* data;
  GPUTM_INLINE plain_element<T> operator[](std::uint64_t i) const { return {data + i}; }
};
struct plain_arrays {
  template <class T>
  using of = plain_array<T>;
};

/// An iteration of a plain loop: loads and stores are just that, and never fail. For bodies that commit.
struct host_iteration {
  template <class T>
  GPUTM_INLINE loaded<T> load(plain_element<T> e) const {
    return {*e.at, true};
  }
  template <class Where, class Use>
  GPUTM_INLINE loaded_each load_each(std::uint32_t count, Where where, Use use) const {
    for (std::uint32_t k = 0; k < count; ++k) use(k, *where(k).at);
    return {true};
  }
  template <class Where, class Accumulator>
  GPUTM_INLINE loaded<Accumulator> reduce_each(std::uint32_t count, Where where, const Accumulator& empty) const {
    loaded<Accumulator> all{empty, true};
    for (std::uint32_t k = 0; k < count; ++k) all.value.add(k, *where(k).at);
    return all;
  }
  template <class T>
  GPUTM_INLINE stored store(plain_element<T> e, const std::type_identity_t<T>& value) const {
    *e.at = value;
    return {true};
  }
};

/// The bytes of all shared arrays, in the order in which they were made.
using array_bytes = std::vector<std::vector<std::byte>>;

/// Copies of the shared arrays on the host; inputs stay where they are.
class host_place {
  std::vector<std::unique_ptr<std::byte[]>> copies_;
  std::vector<std::size_t> sizes_;

 public:
  using arrays = plain_arrays;

  template <class T>
  plain_array<T> shared(const std::vector<T>& initial, const char*) {
    const std::size_t bytes = initial.size() * sizeof(T);
    copies_.push_back(std::make_unique<std::byte[]>(bytes));
    sizes_.push_back(bytes);
    if (bytes != 0) std::memcpy(copies_.back().get(), initial.data(), bytes);
    return {reinterpret_cast<T*>(copies_.back().get())};
  }
  template <class T>
  const T* input(const std::vector<T>& values) {
    return values.data();
  }
  array_bytes results() const {
    array_bytes all;
    for (std::size_t k = 0; k < copies_.size(); ++k) all.emplace_back(copies_[k].get(), copies_[k].get() + sizes_[k]);
    return all;
  }
};

// ---- in a memory

struct device_arrays {
  template <class T>
  using of = gputm::array<T>;
};

/// Shared arrays in a memory, inputs in device memory beside it.
template <LoopEngine E>
class device_place {
  struct made {
    std::uint32_t handle;
    std::size_t length, element_bytes;
  };
  const stream& stream_;
  memory<E>& memory_;
  std::vector<buffer> inputs_;
  std::vector<made> made_;

 public:
  using arrays = device_arrays;
  device_place(const stream& s, memory<E>& tm) : stream_(s), memory_(tm) {}

  template <class T>
  gputm::array<T> shared(const std::vector<T>& initial, const char* name) {
    // a memory has no arrays without elements
    auto a = memory_.template allocate<T>(std::max<std::size_t>(initial.size(), 1), T{}, name);
    if (!initial.empty()) memory_.write(stream_, a, initial);
    made_.push_back({a.handle(), initial.size(), sizeof(T)});
    return a;
  }
  template <class T>
  const T* input(const std::vector<T>& values) {
    inputs_.emplace_back(memory_.on(), std::max<std::size_t>(values.size(), 1) * sizeof(T));
    const buffer& b = inputs_.back();
    if (!values.empty())
      memory_.on()->copy_to_device(stream_.handle(), b.template as<void>(), values.data(), values.size() * sizeof(T));
    stream_.synchronize();
    return b.template as<const T>();
  }
  /// Makes all arrays what results() returned.
  void restore(const array_bytes& all) {
    for (std::size_t k = 0; k < made_.size(); ++k)
      if (made_[k].length != 0) memory_.core().write(stream_, made_[k].handle, 0, made_[k].length, all[k].data());
  }
  array_bytes results() const {
    array_bytes all;
    for (const made& a : made_) {
      all.emplace_back(a.length * a.element_bytes);
      if (a.length != 0) memory_.core().read(stream_, a.handle, 0, a.length, all.back().data());
    }
    return all;
  }
};

// ---- what all loops have

struct loop_problem {
  std::int64_t iterations = 0;
  gputm::capacity capacity{};  ///< of one iteration
  bool dependent = true;       ///< so `doall` is not right
  bool idles = false;          ///< of a body that is mostly_idle: it is
  /// Nothing but operations that IEEE 754 defines: the result is that of any CPU. Else functions of a math library
  /// are used, which differ between CPU and GPU.
  static constexpr bool exact = true;
  double unit = 0;  ///< inexact: results are held to multiples of the ulp of this number
};

/// Throws invalid_argument.
inline void check_percent(const char* of, double percent) {
  if (!(percent >= 0 && percent <= 100))
    throw invalid_argument(std::string(of) + " of " + std::to_string(percent) + " percent: it must be from 0 to 100");
}

}  // namespace gputm::workloads
