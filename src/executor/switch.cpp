// From one stack to another.
#include <new>

#include "worker.hpp"

namespace gputm::host {

namespace bc = boost::context::detail;

void worker::prepare(fiber& f) {
  const std::size_t bytes = stacks_.stack_bytes();
  sanitizer::quiet_begin(current_->tsan);
  f.stack = stacks_.take();
  sanitizer::quiet_end(current_->tsan);
  f.context = bc::make_fcontext(static_cast<std::byte*>(f.stack) + bytes, bytes, &worker::enter);
  sanitizer::set_bounds(f.asan, f.stack, bytes);
}

void worker::switch_to(fiber& to) {
  fiber& from = *current_;
  if (&to == &from) return;
  if (!to.stack && &to != &main_) {
    try {
      prepare(to);
    } catch (...) {
      job_->fail(std::current_exception());
    }
    // Not inside the handler: the exception must not stay caught while other fibers run.
    if (!to.stack) {
      if (&from == &main_) return;
      abandon();
    }
  }
  current_ = &to;
  me = &to.state;
  ++report_.switches;
  ready_.focus(to);
  sanitizer::switch_to(to.tsan);
  sanitizer::before_switch(from.asan, to.asan, &from == &leaving_);
  arrived(bc::jump_fcontext(to.context, &from));
  sanitizer::after_switch(from.asan);
}

void worker::arrived(bc::transfer_t t) {
  static_cast<fiber*>(t.data)->context = t.fctx;
  if (leaving_.stack) {
    stacks_.give(leaving_.stack);
    leaving_.stack = nullptr;
    sanitizer::destroy(leaving_.tsan);
  }
}

// A thread that starts where another has just returned takes over its stack: a kernel that never waits runs
// all its threads on one warm stack.
void worker::adopt_stack(fiber& to) {
  to.stack = leaving_.stack;
  to.asan = leaving_.asan;
  leaving_.stack = nullptr;
  current_ = &to;
  me = &to.state;
  ready_.focus(to);
  sanitizer::switch_to(to.tsan);
  sanitizer::destroy(leaving_.tsan);
}

void worker::enter(bc::transfer_t t) {
  worker& w = this_worker();
  sanitizer::after_first_switch(static_cast<fiber*>(t.data)->asan);
  w.arrived(t);
  for (;;) {
    w.run_thread();
    w.finish_thread();  // returns when the next thread has taken over this stack
  }
}

void worker::abandon() {
  switch_to(main_);
  std::terminate();  // main_ never comes back to a stopped run
}

}  // namespace gputm::host
