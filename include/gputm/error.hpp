// Floor 4: what the host side throws. Every message names the value, the limit and the way out.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace gputm {

/// The root of gputm's exceptions.
class error : public std::runtime_error {
  std::optional<std::uint64_t> iteration_;

 public:
  using std::runtime_error::runtime_error;
  /// Of a loop whose body is in error: the iteration that the message names. But for `doall`, those below it have taken
  /// effect, it and those above have not.
  std::optional<std::uint64_t> iteration() const { return iteration_; }
  void set_iteration(std::uint64_t i) { iteration_ = i; }
};
/// An argument that no run could satisfy: a zero size, a size over a limit, an unknown name.
class invalid_argument : public error {
 public:
  using error::error;
};
/// A transaction needed more read-set or write-set entries than the run's capacity.
class capacity_exceeded : public error {
 public:
  using error::error;
};
/// A body used an index outside of an array, on consistent data.
class index_out_of_range : public error {
 public:
  using error::error;
};
/// A body stored although it had called its input read-only.
class read_only_violation : public error {
 public:
  using error::error;
};
/// Nothing committed for longer than the launch's limit.
class no_progress : public error {
 public:
  using error::error;
};
/// More blocks than can be on the device at once: their threads may wait for each other.
class grid_not_resident : public error {
 public:
  using error::error;
};
class out_of_memory : public error {
 public:
  using error::error;
};
/// The device is not there, or this build cannot use it.
class no_device : public error {
 public:
  using error::error;
};
/// CUDA reported an error; the message has its name.
class cuda_error : public error {
 public:
  using error::error;
};
/// The host executor found a deadlock, a livelock, a race, a bad mask or a failed check; the message has
/// the seed that replays it.
class schedule_failed : public error {
 public:
  using error::error;
};

}  // namespace gputm
