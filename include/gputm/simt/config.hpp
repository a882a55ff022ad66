// Floor 1: which compilation pass this is, and the macros that follow from it.
//
//   nvcc, device pass: __CUDA_ARCH__ is defined; every simt function is an intrinsic and inlines away.
//   everything else (g++, clang++, nvcc's host pass): the host executor; no CUDA header is included
//   unless nvcc is the compiler.
#pragma once

#if defined(__CUDACC__)
/// A function that runs inside kernels: on the GPU, and on the host device.
#define GPUTM_FN __host__ __device__
#define GPUTM_NOINLINE __host__ __device__ __noinline__
/// A function of a few instructions: always inlined.
#define GPUTM_LEAF __host__ __device__ __forceinline__
#else
#define GPUTM_FN
#define GPUTM_NOINLINE __attribute__((noinline))
#define GPUTM_LEAF inline __attribute__((always_inline))
#endif

/// A function that a GPU must inline, so that what it works on can live in registers. On the host device the
/// compiler decides: forced, most code is no faster there, and takes two to three times as long to compile.
#if defined(__CUDA_ARCH__)
#define GPUTM_INLINE GPUTM_LEAF
#elif defined(__CUDACC__)
#define GPUTM_INLINE __host__ __device__ inline
#else
#define GPUTM_INLINE inline
#endif

#if defined(__CUDA_ARCH__)
#define GPUTM_ON_DEVICE 1
/// Chooses the device or the host expression for this pass.
#define GPUTM_PICK(device_expression, host_expression) device_expression
#else
#define GPUTM_ON_DEVICE 0
#define GPUTM_PICK(device_expression, host_expression) host_expression
#endif

/// Before a loop whose bound is a compile-time constant: arrays it indexes can then live in registers.
#if defined(__CUDA_ARCH__)
#define GPUTM_UNROLL _Pragma("unroll")
#else
#define GPUTM_UNROLL
#endif

/// Before a loop whose body is large: copies of it would only cost registers.
#if defined(__CUDA_ARCH__)
#define GPUTM_NO_UNROLL _Pragma("unroll 1")
#else
#define GPUTM_NO_UNROLL
#endif

/// A trailing parameter that remembers the call site, for reports of the host executor. Not
/// std::source_location: clang 14 with libstdc++ 12 lacks it, and nvcc's device pass cannot call it.
#define GPUTM_HERE [[maybe_unused]] ::gputm::simt::site at = {__builtin_FILE(), static_cast<unsigned>(__builtin_LINE())}
