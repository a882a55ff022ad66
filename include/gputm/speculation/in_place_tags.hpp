// Floor 3: which tags of writers' marks a pass in place (in_place_pass.hpp) takes. A window takes one, and one to count
// last writers anew; a pass takes one, and as many more as its positions need.
#pragma once

#include "gputm/parts/writer_table.hpp"
#include "gputm/speculation/loop_environment.hpp"

namespace gputm::speculation {

class in_place_tags {
  static GPUTM_INLINE std::uint32_t more(const loop_environment& env) {
    return parts::writer_table::more_tags(static_cast<std::uint32_t>(env.limits.iterations));
  }

 public:
  /// The next pass's first tag, if `last` is the last one in use; 0: marks have to be cleared before.
  static GPUTM_INLINE std::uint32_t next(const loop_environment& env, std::uint32_t last) {
    return last + 3 + more(env) <= env.limits.tags ? last + 2 : 0;
  }
  /// The last one that a pass has used whose first tag is this.
  static GPUTM_INLINE std::uint32_t last_of(const loop_environment& env, std::uint32_t tag) { return tag + more(env); }
};

}  // namespace gputm::speculation
