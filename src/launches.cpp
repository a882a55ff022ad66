#include "gputm/launches.hpp"

#include <algorithm>
#include <string>

namespace gputm::detail {

bool launches::may_run(const device& d, const launch& l, const stream& other) {
  if (l.stream == other.handle()) return false;  // behind it, then
  const std::shared_ptr<const void> alive = l.alive.lock();
  // what is recorded runs when its graph is launched, of which nobody here is told
  return alive && !d->is_recording(other.handle()) && d->is_busy(l.stream);
}

void launches::ticket::check(const stream& s, const char* doing) const {
  if (launch_ && may_run(s.on(), *launch_, s))
    throw invalid_argument(
        std::string(doing) +
        ": this workspace's last launch is on another stream, which is not through with it; use that "
        "stream, or wait for it before");
}

void launches::check(const stream& s, const char* doing, const ticket* own) const {
  for (const std::weak_ptr<const launch>& w : all_)
    if (const std::shared_ptr<const launch> l = w.lock(); l && (!own || l != own->launch_) && may_run(s.on(), *l, s))
      throw invalid_argument(std::string(doing) +
                             ": a launch on this memory is under way on another stream, which it must not overlap; "
                             "use that stream, or collect the launch before");
}

void launches::begin(const stream& s, ticket& own, bool overlap) {
  own.check(s, "launching");
  if (!overlap) check(s, "launching", &own);
  if (own.launch_ && own.launch_->stream == s.handle() && !own.launch_->alive.expired()) return;
  std::erase_if(all_, [](const std::weak_ptr<const launch>& w) { return w.expired(); });
  own.launch_ = std::make_shared<const launch>(launch{s.handle(), s.lifetime()});
  all_.push_back(own.launch_);
}

bool launches::any() const {
  return std::any_of(all_.begin(), all_.end(), [](const std::weak_ptr<const launch>& w) { return !w.expired(); });
}

}  // namespace gputm::detail
