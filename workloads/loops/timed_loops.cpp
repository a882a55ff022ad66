// Compiled with -O3 -march=native and contraction: what one CPU core can do. The instructions are the build machine's,
// so this file has nothing in it that other files might link to as well: no containers, only the loops.
#include "loops/timed_loops.hpp"

namespace gputm::workloads {

namespace {

template <class Body>
inline __attribute__((always_inline)) void run_loop(const Body& given, std::int64_t n) {
  const Body body = given;  // nothing else points to it
  host_iteration it;
  const int end = static_cast<int>(n);
  for (int i = 0; i < end; ++i) (void)body(it, i);
}

/// The sizes of the synthetic loop are constants in the paper's source, and its compiler makes use of them.
template <std::uint32_t Accesses, std::uint32_t Work>
__attribute__((noinline)) bool run_with_constants(const synthetic_body<plain_arrays>& given, std::int64_t n) {
  if (given.reads != Accesses || given.writes != Accesses || given.work != Work) return false;
  run_loop(
      synthetic_body<plain_arrays, Accesses, Work>{given.a, given.read_at, given.write_at, Accesses, Accesses, Work},
      n);
  return true;
}

}  // namespace

template <class Body>
void run_plain_loop(const Body& body, std::int64_t n) {
  run_loop(body, n);
}
template <>
void run_plain_loop(const synthetic_body<plain_arrays>& body, std::int64_t n) {
  if (run_with_constants<1, 10>(body, n) || run_with_constants<5, 10>(body, n) || run_with_constants<64, 10>(body, n) ||
      run_with_constants<1, 1000>(body, n) || run_with_constants<5, 1000>(body, n))
    return;
  run_loop(body, n);
}

template void run_plain_loop(const mostly_idle<molecular_dynamics_body<plain_arrays>>&, std::int64_t);
template void run_plain_loop(const cfd_body<plain_arrays>&, std::int64_t);
template void run_plain_loop(const black_scholes_body<plain_arrays>&, std::int64_t);
template void run_plain_loop(const colouring_body<plain_arrays>&, std::int64_t);
template void run_plain_loop(const shuffle_body<plain_arrays>&, std::int64_t);

const char* missing_instructions() {
#if defined(__x86_64__)
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) return "AVX-512";
#endif
#if defined(__AVX512VL__)
  if (!__builtin_cpu_supports("avx512vl")) return "AVX-512VL";
#endif
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return "FMA";
#endif
#if defined(__BMI2__)
  if (!__builtin_cpu_supports("bmi2")) return "BMI2";
#endif
#endif
  return nullptr;
}

}  // namespace gputm::workloads
