// What AddressSanitizer and ThreadSanitizer have to be told about fibers. Without them: nothing.
//
// ASan is detected. TSan is asked for with GPUTM_TSAN, because then the executor itself is built without
// -fsanitize=thread: fibers that share an OS thread would otherwise look ordered by the scheduler's own data.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GPUTM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUTM_ASAN 1
#endif
#endif

#if defined(GPUTM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(GPUTM_TSAN)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void __tsan_switch_to_fiber(void*, unsigned);
void __tsan_set_fiber_name(void*, const char*);
void __tsan_acquire(void*);
void __tsan_release(void*);
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif

namespace gputm::host::sanitizer {

/// TSan takes memory that one simulated thread hands to the next for shared: then such memory is not
/// reused, or asked for anew, which makes TSan forget it.
#if defined(GPUTM_TSAN)
inline constexpr bool sees_reuse = true;
#else
inline constexpr bool sees_reuse = false;
#endif

/// What ASan knows of one stack.
struct stack_record {
#if defined(GPUTM_ASAN)
  void* fake = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
#endif
};

/// What TSan knows of one simulated thread.
struct thread_record {
#if defined(GPUTM_TSAN)
  void* fiber = nullptr;
  int quiet = 0;
#endif
};

inline void stack_reused([[maybe_unused]] void* stack, [[maybe_unused]] std::size_t bytes) {
#if defined(GPUTM_ASAN)
  __asan_unpoison_memory_region(stack, bytes);  // an abandoned fiber left its red zones behind
#endif
}
inline void set_bounds([[maybe_unused]] stack_record& r, [[maybe_unused]] const void* bottom,
                       [[maybe_unused]] std::size_t bytes) {
#if defined(GPUTM_ASAN)
  r = {nullptr, bottom, bytes};
#endif
}
inline void before_switch([[maybe_unused]] stack_record& from, [[maybe_unused]] const stack_record& to,
                          [[maybe_unused]] bool for_ever) {
#if defined(GPUTM_ASAN)
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.fake, to.bottom, to.bytes);
#endif
}
inline void after_switch([[maybe_unused]] stack_record& arrived) {
#if defined(GPUTM_ASAN)
  __sanitizer_finish_switch_fiber(arrived.fake, nullptr, nullptr);
#endif
}
/// The first arrival on a fresh stack; tells the bounds of the stack that was left.
inline void after_first_switch([[maybe_unused]] stack_record& left) {
#if defined(GPUTM_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &left.bottom, &left.bytes);
#endif
}

inline void create([[maybe_unused]] thread_record& t, [[maybe_unused]] const char* name) {
#if defined(GPUTM_TSAN)
  t.fiber = __tsan_create_fiber(0);
  __tsan_set_fiber_name(t.fiber, name);
#endif
}
inline void adopt_current([[maybe_unused]] thread_record& t) {
#if defined(GPUTM_TSAN)
  t.fiber = __tsan_get_current_fiber();
#endif
}
inline void switch_to([[maybe_unused]] const thread_record& t) {
#if defined(GPUTM_TSAN)
  __tsan_switch_to_fiber(t.fiber, 1);  // 1: a switch orders nothing
#endif
}
inline void acquire([[maybe_unused]] const void* object) {
#if defined(GPUTM_TSAN)
  __tsan_acquire(const_cast<void*>(object));
#endif
}
inline void release([[maybe_unused]] const void* object) {
#if defined(GPUTM_TSAN)
  __tsan_release(const_cast<void*>(object));
#endif
}
/// The executor is not instrumented, but the libc functions and operator new that it calls are intercepted:
/// between these two nothing counts as an access of the simulated thread.
inline void quiet_begin([[maybe_unused]] thread_record& t) {
#if defined(GPUTM_TSAN)
  ++t.quiet;
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}
inline void quiet_end([[maybe_unused]] thread_record& t) {
#if defined(GPUTM_TSAN)
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  --t.quiet;
#endif
}
inline void quiet_end_all([[maybe_unused]] thread_record& t) {
#if defined(GPUTM_TSAN)
  while (t.quiet > 0) quiet_end(t);
#endif
}
/// `t` is not the running fiber.
inline void destroy([[maybe_unused]] thread_record& t) {
#if defined(GPUTM_TSAN)
  if (t.fiber) __tsan_destroy_fiber(t.fiber);
  t.fiber = nullptr;
#endif
}
/// The same for a thread that has not returned: what it did happens before an acquire of `object`.
inline void destroy_abandoned([[maybe_unused]] thread_record& t, [[maybe_unused]] const thread_record& running,
                              [[maybe_unused]] const void* object) {
#if defined(GPUTM_TSAN)
  if (!t.fiber) return;
  switch_to(t);
  release(object);
  quiet_end_all(t);  // it was inside the executor, and may not end while it is quiet
  switch_to(running);
  destroy(t);
#endif
}

}  // namespace gputm::host::sanitizer
