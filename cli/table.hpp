// A table on stdout whose rows appear as they are measured.
#pragma once

#include <string>
#include <vector>

namespace gputm::cli {

struct column {
  std::string title;
  std::size_t width;  ///< at least; the title's is enough
  bool left = false;  ///< aligned
};

class table {
  std::vector<column> columns_;
  bool silent_;

 public:
  /// Prints the heading, unless it is to be silent.
  table(std::vector<column>, bool silent);
  void row(const std::vector<std::string>& cells) const;
  void line(const std::string&) const;
};

}  // namespace gputm::cli
