# shellcheck shell=bash
# Sourced by the other scripts: where the repository is, which compiler to use, how to print.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

say() { printf '\n==> %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
jobs() { nproc 2>/dev/null || echo 2; }

# version_at_least 3.22.1 3.25
version_at_least() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Prints a g++ of version 12 or later: $CXX if it is set, else the default one, else a numbered one.
find_gxx() {
  local candidate major
  if [ -n "${CXX:-}" ]; then
    echo "$CXX"
    return
  fi
  for candidate in g++ g++-14 g++-13 g++-12; do
    have "$candidate" || continue
    major=$("$candidate" -dumpversion)
    if [ "${major%%.*}" -ge 12 ]; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Whether there is a clang++ of version 14 or later that finds a standard library of C++20.
has_clang() {
  have clang++ && version_at_least "$(clang++ -dumpversion)" 14 &&
    printf '#include <span>\nint main() {}\n' | clang++ -std=c++20 -x c++ - -o /dev/null 2>/dev/null
}

# Sets up, and exports CXX for CMake.
prepare() {
  "$root/scripts/setup.sh"
  CXX=$(find_gxx) || die "no g++ of version 12 or later"
  export CXX
}

configure() {
  local batch=1
  # Few cores are busy anyway, and headers are read once for four sources. Optimizing for GPUs takes far longer than that.
  if [ "$1" != cuda ] && [ "$(jobs)" -le 4 ]; then batch=4; fi
  say "configuring build/$1"
  cmake --preset "$@" -DGPUTM_BATCH=$batch
}
