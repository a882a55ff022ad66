// Floor 4: what a body says and what a load returns.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"

namespace gputm {

/// How a body ends. All but conflict count only after the attempt's reads have validated.
enum class outcome : std::uint8_t {
  commit,   ///< make the stores take effect
  cancel,   ///< the user's own roll-back: the transaction is over and has changed nothing
  retry,    ///< what the transaction waits for is not there yet: run it again later
  conflict  ///< an operation failed; GPUTM_TRY returns it
};
inline constexpr outcome commit = outcome::commit;
inline constexpr outcome cancel = outcome::cancel;
inline constexpr outcome retry = outcome::retry;

/// What a load returns: a value, or nothing after a conflict. Unpack it with GPUTM_TRY.
template <class T>
struct [[nodiscard]] loaded {
  T value;
  bool ok;
};

/// What a store returns.
struct [[nodiscard]] stored {
  bool ok;
};

/// What load_each returns.
struct [[nodiscard]] loaded_each {
  bool ok;
};

namespace detail {
template <class T>
GPUTM_INLINE T&& value_of(loaded<T>& l) {
  return static_cast<T&&>(l.value);
}
}  // namespace detail
}  // namespace gputm

#define GPUTM_JOIN_2(a, b) a##b
#define GPUTM_JOIN(a, b) GPUTM_JOIN_2(a, b)
// that of one argument is one statement, also as the branch of an if that has an else
#define GPUTM_TRY_1(expression)                              \
  do {                                                       \
    if (!(expression).ok) return ::gputm::outcome::conflict; \
  } while (false)
#define GPUTM_TRY_2(declaration, expression) \
  GPUTM_TRY_3(GPUTM_JOIN(gputm_loaded_, __COUNTER__), declaration, expression)
#define GPUTM_TRY_3(name, declaration, expression) \
  auto name = (expression);                        \
  if (!name.ok) return ::gputm::outcome::conflict; \
  declaration = ::gputm::detail::value_of(name)
#define GPUTM_TRY_PICK(_1, _2, chosen, ...) chosen
/// GPUTM_TRY(int x, tx.load(a[i]));  or  GPUTM_TRY(tx.store(a[i], x));
/// Leaves the body with outcome::conflict when the operation failed, so that no code runs on bad data.
#define GPUTM_TRY(...) GPUTM_TRY_PICK(__VA_ARGS__, GPUTM_TRY_2, GPUTM_TRY_1, )(__VA_ARGS__)
