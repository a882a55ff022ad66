// A loop engine without run(). Control: it has one.
#include "gputm/gputm.hpp"

struct engine : gputm::speculation::engine_base {
  static constexpr const char* name = "engine";
  static constexpr gputm::algorithm_traits traits{};
  static constexpr gputm::loop_traits loop{};
#if defined(GPUTM_CONTROL)
  template <class Body>
  static GPUTM_INLINE void run(const gputm::speculation::loop_environment&, const Body&) {}
#endif
};

template <gputm::LoopEngine E>
void needs_an_engine() {}

void use() { needs_an_engine<engine>(); }
