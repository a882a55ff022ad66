#!/usr/bin/env bash
# Sets up, builds everything and runs all tests.
#   scripts/test.sh [host|asan|tsan|cuda] [further options of ctest]
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
configure "$preset"
say "building everything in build/$preset"
cmake --build --preset "$preset"
say "running the tests on $(jobs) cores"
ctest --preset "$preset" --parallel "$(jobs)" --timeout 600 "$@"
