// Floor 4: a transactional memory: arrays of any trivially copyable types, and an algorithm's metadata
// over all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gputm/algorithm/concept.hpp"
#include "gputm/device.hpp"
#include "gputm/error.hpp"
#include "gputm/launches.hpp"
#include "gputm/parts/words.hpp"

namespace gputm {

namespace detail {

/// What does not depend on the algorithm's type. Compiled, in src/memory.cpp.
class memory_core {
 public:
  memory_core(gputm::device d, std::size_t global_bytes, memory_options options);
  memory_core(memory_core&&) = default;
  memory_core& operator=(memory_core&&) = default;

  const gputm::device& on() const { return device_; }
  const region_table& regions() const { return table_; }
  std::byte* globals() const { return globals_.as<std::byte>(); }
  const memory_options& options() const { return options_; }
  std::uint32_t region_count() const { return count_; }
  /// The array's name, or 'array N'.
  std::string region_name(std::uint32_t region) const;
  std::uint32_t largest_element() const;

  using metadata_size = std::size_t (*)(std::uint32_t length, std::uint32_t element_bytes, const memory_options&);
  /// Adds a region; `data` is null for gputm to allocate it. Returns the handle.
  std::uint32_t add_region(std::uint64_t length, std::size_t element_bytes, void* data, std::string_view name,
                           metadata_size);
  void check(const stream&, std::uint32_t handle, std::uint64_t first, std::uint64_t count, const char* doing) const;
  void read(const stream&, std::uint32_t handle, std::uint64_t first, std::uint64_t count, void* to) const;
  void write(const stream&, std::uint32_t handle, std::uint64_t first, std::uint64_t count, const void* from);
  /// Multi-version memory whose host writes elements: only the new values are left of them.
  void forget_versions(const stream&, std::uint32_t handle, std::uint64_t first, std::uint64_t count);
  /// Back to the initial metadata: versions and clocks start over. No launch may be under way.
  void renew(const stream&);
  /// Those that nobody has collected.
  detail::launches& launches() { return launches_; }

 private:
  /// Throws invalid_argument if an array has some of these bytes.
  void check_apart(const std::string& what, const std::byte* data, std::uint64_t bytes) const;

  gputm::device device_;
  memory_options options_;
  region_table table_;
  std::uint32_t count_ = 0;
  detail::launches launches_;
  buffer globals_;
  std::vector<buffer> buffers_;
  std::vector<std::pair<std::byte*, std::size_t>> metadata_;
  std::vector<std::string> names_;
};

}  // namespace detail

/// A trivially copyable reference to a memory, for kernels. Valid while the memory is.
template <MemoryKind A>
struct memory_ref {
  region_table regions;
  typename A::globals globals;
};

/// Owns arrays and metadata on one device. Movable only. Its functions must not overlap a launch in time, nor, but
/// under algorithms whose locks lie in the memory, launches each other: threads of one launch only know each other
/// (docs/semantics.md, "What may overlap").
template <MemoryKind A>
class memory {
  detail::memory_core core_;

 public:
  using algorithm = A;
  using ref_type = memory_ref<A>;

  explicit memory(gputm::device d, memory_options options = {})
      : core_(std::move(d), A::global_bytes(options), options) {}

  /// A new array of `length` elements, all `initial`. `name` is for error messages. Throws
  /// invalid_argument (no elements, more than max_elements, more than max_regions arrays), out_of_memory.
  template <class T>
  array<T> allocate(std::uint64_t length, const T& initial = T{}, std::string_view name = {}) {
    array<T> a = add<T>(length, nullptr, name);
    stream s(core_.on());
    fill(s, a, initial);
    return a;
  }
  /// An array over `length` elements at `data`, device memory of the caller's that outlives this memory
  /// and is aligned for T and for the largest power of two, up to 8, that divides sizeof(T). On a GPU the aligned
  /// 4-byte words that its first and last bytes are in must be the caller's, too, if T has 1 or 2 bytes, or an odd
  /// number of 1- or 2-byte pieces. Throws invalid_argument for null, for one that is not aligned so, for elements of
  /// which an array of this memory has some already, and as allocate().
  template <class T>
  array<T> adopt(T* data, std::uint64_t length, std::string_view name = {}) {
    constexpr std::uintptr_t alignment = std::max(alignof(T), alignof(parts::word_of<T>));
    if (!data) throw invalid_argument("adopt: the pointer is null");
    if (const auto at = reinterpret_cast<std::uintptr_t>(data); at % alignment != 0)
      throw invalid_argument("adopt: the pointer is " + std::to_string(at % alignment) +
                             " bytes beyond a multiple of " + std::to_string(alignment) + ", which elements of " +
                             std::to_string(sizeof(T)) + " bytes must be aligned to");
    return add<T>(length, data, name);
  }
  /// Copies committed values. Waits for the stream.
  template <class T>
  std::vector<T> read(const stream& s, array<T> a) const {
    if constexpr (std::is_same_v<T, bool>) {  // whose vector has no array of them
      const auto values = std::make_unique<bool[]>(a.size());
      core_.read(s, a.handle(), 0, a.size(), values.get());
      return std::vector<bool>(values.get(), values.get() + a.size());
    } else {
      std::vector<T> values(a.size());
      core_.read(s, a.handle(), 0, a.size(), values.data());
      return values;
    }
  }
  template <class T>
  T read(const stream& s, array<T> a, std::uint64_t index) const {
    T value;
    core_.read(s, a.handle(), index, 1, &value);
    return value;
  }
  /// Sets elements [first, first + values.size()). Waits for the stream.
  template <class T>
  void write(const stream& s, array<T> a, std::span<const std::type_identity_t<T>> values, std::uint64_t first = 0) {
    set(s, a.handle(), first, values.size(), values.data());
  }
  template <class T>
  void fill(const stream& s, array<T> a, const std::type_identity_t<T>& value) {
    const std::uint64_t some = std::min<std::uint64_t>(a.size(), (std::uint64_t{1} << 22) / sizeof(T) + 1);
    const auto values = std::make_unique<T[]>(some);
    std::fill_n(values.get(), some, value);
    for (std::uint64_t first = 0; first < a.size(); first += some)
      set(s, a.handle(), first, std::min(some, a.size() - first), values.get());
  }

  /// The owner of adopted data has written elements [first, first + count) by its own pointer since the last launch:
  /// multi-version algorithms would read what transactions wrote there before. Waits for the stream.
  template <class T>
  void changed(const stream& s, array<T> a, std::uint64_t first, std::uint64_t count) {
    core_.check(s, a.handle(), first, count, "changing");
    if constexpr (A::traits.multi_version) core_.forget_versions(s, a.handle(), first, count);
    s.synchronize();
  }

  ref_type ref() const { return {core_.regions(), A::make_globals(core_.globals(), core_.options())}; }
  const gputm::device& on() const { return core_.on(); }
  detail::memory_core& core() { return core_; }
  const detail::memory_core& core() const { return core_; }

 private:
  void set(const stream& s, std::uint32_t handle, std::uint64_t first, std::uint64_t count, const void* values) {
    core_.check(s, handle, first, count, "writing");
    if constexpr (A::traits.multi_version) core_.forget_versions(s, handle, first, count);
    core_.write(s, handle, first, count, values);
  }
  template <class T>
  array<T> add(std::uint64_t length, void* data, std::string_view name) {
    const std::uint32_t handle = core_.add_region(length, sizeof(T), data, name, &A::metadata_bytes);
    return {handle, static_cast<std::uint32_t>(length)};
  }
};

}  // namespace gputm
