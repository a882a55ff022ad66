// A list of a loop's busy iterations: its memory, and how the work of making it is divided.
#include "gputm/busy_list.hpp"

#include <algorithm>

namespace gputm::detail {
namespace {

constexpr std::uint32_t warps_of_block = 8;

/// How many chunks so many words are, one for each warp that lists them. Half of `most`, the warps that can be resident
/// on a GPU, since each goes through the counts of the others; all of them if each has still 16 words to look at then.
/// On an H200 16 million iterations take 6 % less with all, a million 2 % more.
std::uint32_t chunks_of(std::uint64_t words, std::uint64_t most) {
  const std::uint64_t of_16 = std::clamp(words / 16, most / 2, most);
  return static_cast<std::uint32_t>(std::min(words, of_16));
}

}  // namespace

// A host has as many as tests need.
std::uint32_t busy_list::most_chunks() const { return device_.is_host() ? 24 : 64 * device_->multiprocessors(); }
std::uint64_t busy_list::words(std::uint64_t iterations) const {
  return parts::busy_space::words_of(iterations, device_->warp_width());
}
std::uint64_t busy_list::bytes(std::uint64_t iterations) const {
  return (1 + most_chunks() + words(iterations) + iterations) * sizeof(std::uint32_t);
}

busy_list::busy_list(device on, std::uint64_t iterations)
    : device_(std::move(on)), memory_(device_, bytes(iterations)) {}

parts::busy_space busy_list::space(std::uint64_t iterations) const {
  parts::busy_space space;
  space.iterations = iterations;
  space.total = memory_.as<std::uint32_t>();
  space.counts = space.total + 1;
  space.words = space.counts + most_chunks();
  space.list = space.words + words(iterations);
  space.chunks = chunks_of(words(iterations), most_chunks());
  return space;
}

launch_shape busy_list::shape(const parts::busy_space& space) const {
  launch_shape shape{};
  shape.threads = warps_of_block * device_->warp_width();
  shape.clients = (space.chunks + warps_of_block - 1) / warps_of_block;
  shape.warp_width = device_->warp_width();
  return shape;
}

}  // namespace gputm::detail
