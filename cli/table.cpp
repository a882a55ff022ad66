#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace gputm::cli {

table::table(std::vector<column> columns, bool silent) : columns_(std::move(columns)), silent_(silent) {
  std::vector<std::string> titles;
  for (column& c : columns_) {
    c.width = std::max(c.width, c.title.size());
    titles.push_back(c.title);
  }
  row(titles);
}

void table::row(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const column& c = columns_[k];
    text += c.left ? fmt::format("{:<{}}  ", cells[k], c.width) : fmt::format("{:>{}}  ", cells[k], c.width);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  line(text);
}

void table::line(const std::string& text) const {
  if (silent_) return;
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

}  // namespace gputm::cli
