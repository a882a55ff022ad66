#!/usr/bin/env bash
# Sets up, builds everything and runs all tests.
#   scripts/test.sh [host|asan|tsan|cuda] [further options of ctest]
# Where there is clang, host has two folders, build/host and build/clang, and ctest runs in both with these options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-host}
[ $# -eq 0 ] || shift
case "$preset" in
  host | asan | cuda) ;;
  tsan) have clang++ || die "the preset tsan needs clang++: apt-get install clang" ;;
  *) die "usage: scripts/test.sh [host|asan|tsan|cuda] [ctest options]" ;;
esac
if [ "$preset" = cuda ]; then have nvcc || die "the preset cuda needs nvcc in PATH"; fi

prepare
presets=("$preset")
options=()
if [ "$preset" = host ] && has_clang; then  # which takes a third of g++'s time for mutants
  presets+=(clang)
  options=(-DGPUTM_BUILD_MUTANTS=OFF)
fi
configure "$preset" ${options[@]+"${options[@]}"}
for p in "${presets[@]:1}"; do configure "$p"; done
for p in "${presets[@]}"; do
  say "building everything in build/$p"
  cmake --build --preset "$p"
done
failed=0
for p in "${presets[@]}"; do
  say "running the tests of build/$p on $(jobs) cores"
  ctest --preset "$p" --parallel "$(jobs)" --timeout 600 "$@" || failed=1
done
exit $failed
