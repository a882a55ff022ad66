#!/usr/bin/env bash
# From a fresh clone to a table: sets up, builds the program without CUDA, and runs the bank (6,000
# accounts, every tenth transaction sums all of them) under several algorithms on the host device.
#   scripts/demo.sh [further options of 'gputm bench bank']
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

prepare
configure host
say "building the program"
cmake --build --preset host --target gputm_cli
say "the bank: 6,000 accounts, 10 % read-only transactions, on the host device"
timeout 300 build/host/gputm bench bank --algorithm pr_stm,pr_stm_opaque,jvstm_gpu,csmv_sh,sequential,locks,unsafe,libitm \
  --device host --accounts 6000 --rot 10 --seconds 0.5 "$@"
