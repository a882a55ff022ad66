// Floor 1: who a thread is. One-dimensional grids of one-dimensional blocks.
#pragma once

#include <cstdint>

#include "gputm/simt/config.hpp"
#include "gputm/simt/host_hooks.hpp"

namespace gputm::simt {

/// Rank of this thread in its block.
GPUTM_LEAF std::uint32_t thread_rank() { return GPUTM_PICK(threadIdx.x, host::current->me->thread); }
/// Rank of this block in the grid.
GPUTM_LEAF std::uint32_t block_rank() { return GPUTM_PICK(blockIdx.x, host::current->me->block); }
/// Threads in a block.
GPUTM_LEAF std::uint32_t block_size() { return GPUTM_PICK(blockDim.x, host::current->me->block_size); }
/// Blocks in the grid.
GPUTM_LEAF std::uint32_t grid_size() { return GPUTM_PICK(gridDim.x, host::current->me->grid_size); }
/// Lanes in a full warp: 32 on a GPU, settable on the host device.
GPUTM_LEAF std::uint32_t warp_width() { return GPUTM_PICK(32u, host::current->me->warp_width); }
/// Rank of this thread in its warp.
GPUTM_LEAF std::uint32_t lane() { return GPUTM_PICK(threadIdx.x & 31u, host::current->me->lane); }
/// Rank of this warp in its block.
GPUTM_LEAF std::uint32_t warp_rank() { return GPUTM_PICK(threadIdx.x >> 5, host::current->me->warp); }
/// Rank of this thread in the grid.
GPUTM_LEAF std::uint32_t grid_thread_rank() { return block_rank() * block_size() + thread_rank(); }
/// Threads in the grid.
GPUTM_LEAF std::uint32_t grid_threads() { return grid_size() * block_size(); }

/// Whether `p` is in memory that a thread has for itself, as a GPU's threads have their local variables: another one
/// finds its own there. Never on the host device.
GPUTM_LEAF bool is_private([[maybe_unused]] const void* p) { return GPUTM_PICK(__isLocal(p) != 0, false); }

}  // namespace gputm::simt
