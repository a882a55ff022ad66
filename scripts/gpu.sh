#!/usr/bin/env bash
# What a machine with a GPU runs: the demo and the tests on the GPU, then compute-sanitizer.
#   scripts/gpu.sh [ALGORITHM...]
# With names, conformance and sanitizers run for these algorithms only, since all of them take long.
# With nvcc it builds build/cuda for the GPU that is there. With GPUTM_PREBUILT=1 it takes the binaries
# that lie in build/cuda: such a machine needs neither a compiler nor CMake.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

passed=0
failed=()
check() {  # check SECONDS NAME COMMAND...
  local limit=$1 name=$2 status=0
  shift 2
  say "$name"
  timeout --kill-after=10 "$limit" "$@" || status=$?
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    [ "$status" -ne 124 ] || echo "stopped after $limit s"
    failed+=("$name")
  fi
}

# a filter of googletest: these algorithms' properties on the GPU, or all
filter='*/gpu.*'
if [ $# -gt 0 ]; then filter=$(printf '%s/gpu.*:' "$@"); fi

have nvidia-smi || die "no nvidia-smi here: is there a GPU? Without one, run scripts/test.sh"
say "the GPU"
nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')

if [ "${GPUTM_PREBUILT:-0}" = 1 ]; then
  [ -x build/cuda/gputm ] || die "GPUTM_PREBUILT=1, but there is no build/cuda/gputm"
else
  have nvcc || die "no nvcc in PATH; add the toolkit's bin directory, or bring build/cuda and set GPUTM_PREBUILT=1"
  prepare
  configure cuda -DCMAKE_CUDA_ARCHITECTURES="$arch"
  say "building everything in build/cuda for compute capability $arch"
  cmake --build --preset cuda
fi

check 300 "the bank on the GPU" build/cuda/gputm bench bank --device cuda \
  --algorithm pr_stm,pr_stm_opaque,locks,unsafe --accounts 100000 --rot 10 --rot-reads 64 --seconds 0.5

# with CMake's tool all tests, without it those that run on the GPU
if [ "${GPUTM_PREBUILT:-0}" != 1 ]; then
  check 3600 "all tests" ctest --preset cuda --parallel "$(jobs)" --timeout 900
else
  check 3600 "conformance on the GPU" build/cuda/gputm_conformance --gtest_brief=1 --gtest_filter="$filter"
  check 900 "loops on the GPU" build/cuda/gputm_speculation_tests --gtest_brief=1 --gtest_filter='*_gpu.*'
  for example in build/cuda/example_*; do
    if [ -x "$example" ]; then check 60 "$(basename "$example")" "$example"; fi
  done
fi

# Each tool slows kernels down: the smallest number of rounds. racecheck sees shared memory only, and takes nothing
# but barriers and read-modify-writes for synchronisation: it reports every word that a server's warps pass on by release
# and acquire, so servers are left out. Races in global memory, and those, are what exploration and histories find.
sanitizer=$(command -v compute-sanitizer || true)
[ -n "$sanitizer" ] || sanitizer=$(ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [ -n "$sanitizer" ]; then
  check 7200 "compute-sanitizer memcheck" env GPUTM_SCHEDULES=0 "$sanitizer" --tool memcheck --error-exitcode 9 \
    build/cuda/gputm_conformance --gtest_brief=1 --gtest_filter="$filter"
  check 7200 "compute-sanitizer racecheck" env GPUTM_SCHEDULES=0 "$sanitizer" --tool racecheck --error-exitcode 9 \
    build/cuda/gputm_conformance --gtest_brief=1 --gtest_filter="$filter-csmv*"
  # each engine of its own code, but not what one property demands of times; under racecheck sparse loops alone take
  # minutes
  loops='gpu_tls_gpu.*:gpu_tls_no_repair_gpu.*:in_order_commit_gpu.*:direct_update_gpu.*'
  loops+='-*.one_thread_runs_what_windows_are_slower_at'
  check 1800 "compute-sanitizer memcheck, loops" env GPUTM_SCHEDULES=0 "$sanitizer" --tool memcheck --error-exitcode 9 \
    build/cuda/gputm_speculation_tests --gtest_brief=1 --gtest_filter="$loops"
  check 1800 "compute-sanitizer racecheck, loops" env GPUTM_SCHEDULES=0 "$sanitizer" --tool racecheck --error-exitcode 9 \
    build/cuda/gputm_speculation_tests --gtest_brief=1 --gtest_filter="$loops:*.sparse_loops*"
else
  say "no compute-sanitizer here: left out"
fi

printf '\nchecks: %d passed, %d failed%s\n' "$passed" "${#failed[@]}" "${failed[*]:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
