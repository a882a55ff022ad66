// The bank on libitm, the software transactional memory that comes with GCC: on CPU threads, as the
// baseline from outside.
#pragma once

#include <string>

#include "bank.hpp"

namespace gputm::workloads {

/// Whether this build has it: only GCC compiles __transaction_atomic.
bool has_libitm();
/// Its algorithm, as the environment chose it (ITM_DEFAULT_METHOD), or "default".
std::string libitm_method();
/// Runs the bank on `threads` CPU threads. Throws invalid_argument as bank<A> does.
measurement run_libitm_bank(const bank_options&, unsigned threads);

}  // namespace gputm::workloads
