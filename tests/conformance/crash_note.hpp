// A crash ends the process before anything can say in which schedule it was: so its signal is told beforehand.
#pragma once

#include <unistd.h>
#include <csignal>
#include <cstring>
#include <string>

namespace gputm::conformance {

/// While it lives, a signal that ends the process writes a note first.
class crash_note {
  static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static inline char text_[512];
  static inline struct sigaction before_[std::size(signals)];
  alignas(16) static inline char stack_[1 << 16];  // whoever crashes may have none left
  stack_t stack_before_{};

  static void tell(int signal, siginfo_t* about, void*) {
    // what cannot be written cannot be told
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_, ::strnlen(text_, sizeof text_));
    for (std::size_t k = 0; k < std::size(signals); ++k)
      if (signals[k] == signal) ::sigaction(signal, &before_[k], nullptr);
    if (about->si_code <= 0)
      ::raise(signal);  // who has crashed does so again when this returns, but not who was told to
  }

 public:
  crash_note() {
    const stack_t stack{stack_, 0, sizeof stack_};
    ::sigaltstack(&stack, &stack_before_);
    struct sigaction to {};
    to.sa_sigaction = tell;
    to.sa_flags = SA_ONSTACK | SA_SIGINFO;
    for (std::size_t k = 0; k < std::size(signals); ++k) ::sigaction(signals[k], &to, &before_[k]);
  }
  crash_note(const crash_note&) = delete;
  crash_note& operator=(const crash_note&) = delete;
  ~crash_note() {
    for (std::size_t k = 0; k < std::size(signals); ++k) ::sigaction(signals[k], &before_[k], nullptr);
    ::sigaltstack(&stack_before_, nullptr);
  }
  void set(const std::string& text) { text_[text.copy(text_, sizeof text_ - 1)] = 0; }
};

}  // namespace gputm::conformance
