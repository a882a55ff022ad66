// In place of libitm_bank.cpp where the compiler has no -fgnu-tm.
#include "libitm_bank.hpp"

namespace gputm::workloads {

bool has_libitm() { return false; }
std::string libitm_method() { return "default"; }
measurement run_libitm_bank(const bank_options&, unsigned) {
  throw no_device("libitm: this program was not built by GCC, or without its -fgnu-tm");
}

}  // namespace gputm::workloads
