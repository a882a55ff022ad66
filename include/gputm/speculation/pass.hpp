// Floor 3: the kinds of passes over a window of iterations with deferred writes.
#pragma once

#include <cstdint>

namespace gputm::speculation {

/// What a pass over a window is: its first one, which looks for nobody and lists nothing; the same with rows that all
/// warps load together; its first one if violations are likely, and nobody repairs them; or a repair of those in
/// violation, or one of such long ones that they are dealt out to all warps, or one of so many that they need each
/// other's values. Each has code of its own.
enum class pass : std::uint8_t { calm, joint, wary, repair, spread, dense };
template <pass Kind>
inline constexpr bool is_repair = Kind == pass::repair || Kind == pass::spread || Kind == pass::dense;
template <pass Kind>
inline constexpr bool is_calm = Kind == pass::calm || Kind == pass::joint;

}  // namespace gputm::speculation
