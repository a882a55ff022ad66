// gputm: transactions and speculative loops for GPUs. The umbrella header.
#pragma once

#include "gputm/algorithm/locks.hpp"
#include "gputm/algorithm/pr_stm.hpp"
#include "gputm/algorithm/sequential.hpp"
#include "gputm/algorithm/unsafe.hpp"
#include "gputm/device.hpp"
#include "gputm/error.hpp"
#include "gputm/history.hpp"
#include "gputm/launch.hpp"
#include "gputm/memory.hpp"
#include "gputm/outcome.hpp"
#include "gputm/run.hpp"
#include "gputm/stats.hpp"
#include "gputm/transaction.hpp"
