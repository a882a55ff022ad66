#!/usr/bin/env bash
# Installs what building gputm without CUDA needs, on Debian 12, Ubuntu 22.04 or 24.04, with apt. Says
# what it installs; does nothing if everything is there.
#   scripts/setup.sh            what the build, the program and the tests need
#   scripts/setup.sh --checks   also what the further checks of .ci/run use, as far as there are packages
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

checks=false
case "${1:-}" in
  '') ;;
  --checks) checks=true ;;
  *) die "usage: scripts/setup.sh [--checks]" ;;
esac

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
available() { [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]; }
cmake_version() { cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p'; }
cmake_is_new() { have cmake && version_at_least "$(cmake_version)" 3.25; }

libraries=(libboost-context-dev libgtest-dev libcli11-dev nlohmann-json3-dev libfmt-dev)

if ! have apt-get; then
  missing=()
  for tool in cmake ninja python3; do have "$tool" || missing+=("$tool"); done
  find_gxx >/dev/null || missing+=("g++ 12 or later")
  [ ${#missing[@]} -eq 0 ] || die "no apt-get here; install these yourself: ${missing[*]}.
The libraries are Boost.Context 1.74 or later, GoogleTest, CLI11, nlohmann-json and fmt."
  say "no apt-get here: libraries are not checked (${libraries[*]} on Debian)"
  exit 0
fi

needed=()
for package in "${libraries[@]}"; do installed "$package" || needed+=("$package"); done
have ninja || needed+=(ninja-build)
have cmake || needed+=(cmake)
have python3 || needed+=(python3)  # the tests of the program
gxx_missing=false
find_gxx >/dev/null || gxx_missing=true
wanted=()
if $checks; then
  have clang++ || wanted+=(clang)
  have clang-format-14 || wanted+=(clang-format-14)
  have doxygen || wanted+=(doxygen)
  have shellcheck || wanted+=(shellcheck)
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    die "packages are missing, and there is no sudo; as root: $*"
  fi
}
install_packages() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"; }

if [ ${#needed[@]} -ne 0 ] || [ ${#wanted[@]} -ne 0 ] || $gxx_missing; then
  say "updating the package lists"
  as_root apt-get update -q || echo "the lists could not be updated; trying with the old ones"
  if $gxx_missing; then  # the default g++ of Ubuntu 22.04 is 11
    for package in g++-12 g++-13 g++-14 g++; do
      available "$package" || continue
      needed+=("$package")
      break
    done
  fi
  if [ ${#needed[@]} -ne 0 ]; then
    say "installing: ${needed[*]}"
    install_packages "${needed[@]}"
  fi
  for package in "${wanted[@]}"; do  # .ci/run leaves out a check whose tool is not there, and says so
    say "installing, if possible: $package"
    install_packages "$package" || echo "no $package: what it checks is left out"
  done
fi

cmake_is_new || die "CMake is $(cmake_version), and gputm needs 3.25 or later (Ubuntu 22.04 has 3.22).
The way out, without touching the system:
  python3 -m venv ~/.venvs/cmake        # needs the package python3-venv
  ~/.venvs/cmake/bin/pip install cmake
  export PATH=~/.venvs/cmake/bin:\$PATH
and then again what you called."
find_gxx >/dev/null || die "no g++ of version 12 or later, and no package of one"
