// Arrays and metadata of a memory: everything that does not depend on the algorithm's type.
#include "gputm/memory.hpp"

#include <atomic>
#include <bit>
#include <functional>

namespace gputm::detail {
namespace {

std::atomic<std::uint32_t> memories{0};

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int u = 0;
  while (bytes >= 1024 && u < 5) bytes /= 1024, ++u;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", bytes, units[u]);
  return text;
}

}  // namespace

memory_core::memory_core(gputm::device d, std::size_t global_bytes, memory_options options)
    : device_(std::move(d)), options_(options) {
  if (!std::has_single_bit(options.words_per_lock))
    throw invalid_argument("words_per_lock is " + std::to_string(options.words_per_lock) +
                           "; it must be a power of two (1, 2, 4, ...)");
  if (options.versions < 2 || options.record_entries < 2)
    throw invalid_argument("a memory with " + std::to_string(options.versions) + " versions, " +
                           std::to_string(options.record_entries) + " record entries: at least 2 of each");
  if (options.versions > 65'535)
    throw invalid_argument("a memory with " + std::to_string(options.versions) + " versions: the limit is 65535");
  if (options.servers == 0)
    throw invalid_argument(
        "a memory with 0 servers: at least 1, of which every launch of an algorithm with several "
        "gets as many blocks");
  do {
    table_.memory = ++memories & 0xffffffu;
  } while (table_.memory == 0);  // the number of a default-constructed array
  globals_ = buffer(device_, std::max<std::size_t>(global_bytes, 1));
  stream s(device_);
  device_->fill_zero(s.handle(), globals_.as<std::byte>(), globals_.size());
  s.synchronize();
}

std::string memory_core::region_name(std::uint32_t region) const {
  return region < names_.size() && !names_[region].empty() ? "array '" + names_[region] + "'"
                                                           : "array " + std::to_string(region);
}

std::uint32_t memory_core::largest_element() const {
  std::uint32_t largest = 1;
  for (std::uint32_t r = 0; r < count_; ++r) largest = std::max(largest, table_.regions[r].element_bytes);
  return largest;
}

void memory_core::check_apart(const std::string& what, const std::byte* data, std::uint64_t bytes) const {
  const std::less<const std::byte*> is_below;
  for (std::uint32_t k = 0; data != nullptr && k < count_; ++k) {
    const region& r = table_.regions[k];
    const std::byte* const end = r.data + std::uint64_t{r.length} * r.element_bytes;
    if (!is_below(data, end) || !is_below(r.data, data + bytes)) continue;
    throw invalid_argument("adopt: " + what + " would have elements of " + region_name(k) +
                           ", and nobody would see a conflict between the two; use that array for both");
  }
}

std::uint32_t memory_core::add_region(std::uint64_t length, std::size_t element_bytes, void* data,
                                      std::string_view name, metadata_size metadata_bytes) {
  stream s(device_);  // throws if this has been moved from
  launches_.check(s, "adding an array");
  const std::string what = name.empty() ? "an array" : "array '" + std::string(name) + "'";
  if (length == 0)
    throw invalid_argument(what + " of 0 elements: an array has at least one; allocate one that nobody uses");
  if (length > max_elements)
    throw invalid_argument(what + " of " + std::to_string(length) + " elements (" +
                           bytes_text(static_cast<double>(length) * static_cast<double>(element_bytes)) +
                           "): the limit is " + std::to_string(max_elements) + "; split it into several arrays");
  if (count_ == max_regions)
    throw invalid_argument(what + ": this memory already has " + std::to_string(max_regions) +
                           " arrays, the limit; put fields of one kind into a struct");
  check_apart(what, static_cast<const std::byte*>(data), length * element_bytes);
  region& r = table_.regions[count_];
  r.length = static_cast<std::uint32_t>(length);
  r.element_bytes = static_cast<std::uint32_t>(element_bytes);
  r.lock_shift = options_.lock_shift();
  const std::size_t bytes = std::max<std::size_t>(metadata_bytes(r.length, r.element_bytes, options_), 8);
  buffer metadata(device_, bytes);
  if (!data) {
    // whole words: on a GPU an atomic store of one or two bytes is a compare-exchange of the word that they are in
    constexpr std::uint64_t word = 8;
    buffers_.emplace_back(device_, (length * element_bytes + word - 1) / word * word);
    data = buffers_.back().as<void>();
  }
  r.data = static_cast<std::byte*>(data);
  r.metadata = metadata.as<std::byte>();
  device_->fill_zero(s.handle(), r.metadata, bytes);
  s.synchronize();
  metadata_.emplace_back(r.metadata, bytes);
  buffers_.push_back(std::move(metadata));
  names_.emplace_back(name);
  return table_.memory << 8 | count_++;
}

void memory_core::check(const stream& s, std::uint32_t handle, std::uint64_t first, std::uint64_t count,
                        const char* doing) const {
  check_stream(s, device_);  // throws if this has been moved from as well
  launches_.check(s, doing);
  if (handle >> 8 != table_.memory || (handle & 255) >= count_)
    throw invalid_argument(std::string(doing) + ": the array belongs to another memory");
  const std::uint64_t length = table_.regions[handle & 255].length;
  if (first > length || count > length - first)
    throw index_out_of_range(std::string(doing) + " elements [" + std::to_string(first) + ", " +
                             std::to_string(first + count) + ") of " + region_name(handle & 255) + ", which has " +
                             std::to_string(length));
}

void memory_core::read(const stream& s, std::uint32_t handle, std::uint64_t first, std::uint64_t count,
                       void* to) const {
  check(s, handle, first, count, "reading");
  const region& r = table_.regions[handle & 255];
  device_->copy_from_device(s.handle(), to, r.data + first * r.element_bytes, count * r.element_bytes);
  s.synchronize();
}

void memory_core::write(const stream& s, std::uint32_t handle, std::uint64_t first, std::uint64_t count,
                        const void* from) {
  check(s, handle, first, count, "writing");
  const region& r = table_.regions[handle & 255];
  device_->copy_to_device(s.handle(), r.data + first * r.element_bytes, from, count * r.element_bytes);
  s.synchronize();
}

void memory_core::forget_versions(const stream& s, std::uint32_t handle, std::uint64_t first, std::uint64_t count) {
  const std::uint32_t region = handle & 255;
  const auto [p, bytes] = metadata_[region];
  const std::size_t record = bytes / table_.regions[region].length;
  device_->fill_zero(s.handle(), p + first * record, count * record);
}

void memory_core::renew(const stream& s) {
  for (auto [p, bytes] : metadata_) device_->fill_zero(s.handle(), p, bytes);
  device_->fill_zero(s.handle(), globals_.as<std::byte>(), globals_.size());
  s.synchronize();
}

}  // namespace gputm::detail
