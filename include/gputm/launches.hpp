// Floor 4: the launches on a memory that nobody has collected yet, so that what must not overlap one is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gputm/device.hpp"

namespace gputm::detail {

/// Kept by a memory. A launch is over once its workspace has been collected, launched again or destroyed, or its stream
/// has nothing left to do: whoever waits for a stream before he uses another one is never refused. Compiled, in
/// src/launches.cpp.
class launches {
  struct launch {
    void* stream;
    std::weak_ptr<const void> alive;  // the stream: nobody may ask about one that is destroyed
  };
  std::vector<std::weak_ptr<const launch>> all_;

  static bool may_run(const device&, const launch&, const stream& other);

 public:
  /// What a workspace keeps of its launch.
  class ticket {
    friend launches;
    std::shared_ptr<const launch> launch_;

   public:
    /// The launch is over.
    void collected() { launch_.reset(); }
    /// Throws invalid_argument if the launch may still run on another stream than `s`.
    void check(const stream& s, const char* doing) const;
  };

  /// Throws invalid_argument if another stream than `s` may still run a launch, but for that of `own`.
  void check(const stream& s, const char* doing, const ticket* own = nullptr) const;
  /// A workspace is about to launch on `s`. Throws invalid_argument if its own launch before may still run on another
  /// stream, or, unless they `overlap`, another workspace's.
  void begin(const stream& s, ticket& own, bool overlap);
  /// Whether there is one that nobody has collected.
  bool any() const;
};

}  // namespace gputm::detail
