// Floor 2: regions. A memory holds up to max_regions arrays; each is a region with its own element type
// and its own slice of the algorithm's metadata, so that the way from an element to its lock is O(1)
// (the coursework's region table, section 5, costs O(number of regions) an access).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gputm/simt/config.hpp"

namespace gputm {

/// Arrays that one memory can hold.
inline constexpr std::uint32_t max_regions = 16;
/// Elements that one array can hold: so 32 bits tell which one it is, or their last value that it is none.
inline constexpr std::uint64_t max_elements = 0xffffffffu;

/// What kernels know of one array.
struct region {
  std::byte* data = nullptr;        ///< committed values, element i at data + i * sizeof(T)
  std::byte* metadata = nullptr;    ///< the algorithm's slice for this array
  std::uint32_t length = 0;         ///< elements
  std::uint32_t element_bytes = 0;  ///< sizeof(T)
  std::uint32_t lock_shift = 0;     ///< log2 of the elements under one lock
};

struct region_table {
  region regions[max_regions];
  std::uint32_t memory = 0;  ///< which memory; part of every handle
};

/// One element of a shared array: what load and store name.
template <class T>
struct element {
  using value_type = T;
  std::uint32_t handle;  ///< memory << 8 | region
  std::uint64_t index;   ///< as the body said: a negative one is beyond any array, and an error can name it
};

/// What a store takes: small values themselves, so that a constant of a namespace needs no address, which it has none
/// of in device code.
template <class T>
using stored_value = std::conditional_t<sizeof(T) <= 16, T, const T&>;

/// A typed handle on an array of a memory: {memory, region, length}, never a pointer. Trivially copyable.
/// T: any trivially copyable type with a default constructor; one element is under one lock, or one version, whatever
/// its size.
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>, "shared data must be trivially copyable");
  static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>, "shared data may be stored to: drop const and volatile");
  static_assert(std::is_default_constructible_v<T>, "shared data must have a default constructor, for loads to fill");
  std::uint32_t handle_ = 0;
  std::uint32_t length_ = 0;

 public:
  using value_type = T;
  array() = default;
  GPUTM_INLINE constexpr array(std::uint32_t handle, std::uint32_t length) : handle_(handle), length_(length) {}

  /// The element at `i`. An index out of range makes the access fail, not the expression: a transaction
  /// that read inconsistent data may compute any index (see docs/semantics.md).
  GPUTM_INLINE constexpr element<T> operator[](std::uint64_t i) const { return {handle_, i}; }
  /// Not by a fraction, which would lose what lies behind its point.
  template <class Index, std::enable_if_t<std::is_floating_point_v<Index>, int> = 0>
  void operator[](Index) const = delete;
  GPUTM_INLINE constexpr std::uint32_t size() const { return length_; }
  GPUTM_INLINE constexpr std::uint32_t handle() const { return handle_; }
};

}  // namespace gputm
