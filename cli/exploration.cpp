#include "exploration.hpp"

namespace gputm::cli {

std::string judge(const std::vector<account>& last, std::int64_t total, std::uint64_t wrong_sums,
                  const history::history& record, history::level level) {
  std::int64_t sum = 0;
  for (const account& a : last) sum += a.balance;
  if (sum != total)
    return "the sum of balances is " + std::to_string(sum) + " and was " + std::to_string(total) + " before";
  if (wrong_sums) return std::to_string(wrong_sums) + " read-only transactions saw another sum than the total";
  const history::verdict v = history::check(record, {.level = level});
  if (v.ok) return "";
  if (v.found == history::finding::undetermined) return "nobody knows whether the history is right: " + v.what;
  return std::string("the history is not ") + (level == history::level::opaque ? "opaque" : "strictly serialisable") +
         ": " + v.what;
}

std::string failure_of(const std::function<void()>& run) {
  try {
    run();
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

}  // namespace gputm::cli
