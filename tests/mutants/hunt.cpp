#include "hunt.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "conformance/explorer.hpp"

namespace gputm::mutants {
namespace {

std::uint64_t seed() {
  const char* text = std::getenv("GPUTM_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}
conformance::search_result search(const quarry& q, std::uint64_t first, std::uint64_t count) {
  return conformance::explorer(q.how == conformance::mode::weak).search(q.property, seed(), first, count);
}
/// Within so many a mutant must be caught, and the library as it is must get through them. The search for a mutant goes
/// on, to tell how many it needs.
std::uint64_t controlled(const quarry& q) { return q.schedules / 2; }
bool says(const conformance::search_result& r, const quarry& q) { return r.what.find(q.message) != std::string::npos; }

/// Looks for a failure that says what it should: what a mutant breaks may show in several ways. `others` counts those
/// passed over. A new executor after each: a failed run may leave memory allocated.
conformance::search_result search_for_message(const quarry& q, std::uint64_t& others) {
  conformance::search_result r;
  for (std::uint64_t tried = 0; tried < q.schedules; ++others) {
    r = search(q, tried, q.schedules - tried);
    tried += r.schedules;
    r.schedules = tried;
    if (!r.failed || says(r, q)) return r;
  }
  return r;
}

}  // namespace

int catch_mutant(const quarry& q) {
  std::uint64_t others = 0;
  const conformance::search_result r = search_for_message(q, others);
  if (others != 0)
    std::printf("%s: %llu failures do not say '%s'\n", q.name, static_cast<unsigned long long>(others), q.message);
  if (!r.failed || !says(r, q)) {
    std::printf("%s: NOT caught for its own reason within %llu schedules\n", q.name,
                static_cast<unsigned long long>(r.schedules));
    return 1;
  }
  std::printf("%s: caught after %llu of %llu schedules:\n  %s\n", q.name, static_cast<unsigned long long>(r.schedules),
              static_cast<unsigned long long>(q.schedules), r.what.c_str());
  if (r.schedules <= controlled(q)) return 0;
  std::printf("but the control goes through %llu schedules only: give this mutant more\n",
              static_cast<unsigned long long>(controlled(q)));
  return 1;
}

int pass_control(const std::vector<quarry>& all, std::size_t part, std::size_t parts) {
  // mutants of one property share schedules: those of the one that has most are those of all
  std::vector<quarry> longest;
  for (const quarry& q : all) {
    const auto at = std::find_if(longest.begin(), longest.end(), [&q](const quarry& other) {
      return other.property == q.property && other.how == q.how;
    });
    if (at == longest.end())
      longest.push_back(q);
    else if (at->schedules < q.schedules)
      *at = q;
  }
  int failed = 0;
  for (std::size_t k = part; k < longest.size(); k += parts) {
    const quarry& q = longest[k];
    const conformance::search_result r = search(q, 0, controlled(q));
    std::printf("%s, and all of its property: the library as it is, %llu schedules: %s\n", q.name,
                static_cast<unsigned long long>(r.schedules), r.failed ? r.what.c_str() : "no failure");
    failed |= r.failed;
  }
  return failed;
}

}  // namespace gputm::mutants
