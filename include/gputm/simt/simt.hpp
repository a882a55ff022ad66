// Floor 1: the substrate, whole. Free functions that read like CUDA; see design notes in docs/substrate.md.
#pragma once

#include "gputm/simt/atomic.hpp"
#include "gputm/simt/await.hpp"
#include "gputm/simt/block.hpp"
#include "gputm/simt/cluster.hpp"
#include "gputm/simt/config.hpp"
#include "gputm/simt/hints.hpp"
#include "gputm/simt/identity.hpp"
#include "gputm/simt/types.hpp"
#include "gputm/simt/warp.hpp"
