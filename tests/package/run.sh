#!/usr/bin/env bash
# Builds and runs the outside consumer against a gputm installed under PREFIX.
#   tests/package/run.sh PREFIX [further options of cmake]
set -euo pipefail
[ $# -ge 1 ] || {
  echo "usage: tests/package/run.sh PREFIX [cmake options]" >&2
  exit 2
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
shift
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" "$@"
cmake --build "$build"
for program in bank bank_cuda; do
  if [ -x "$build/$program" ]; then timeout 60 "$build/$program"; fi
done
