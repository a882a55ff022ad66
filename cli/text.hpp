// Words on the terminal: errors of usage, one-line messages, progress.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gputm::cli {

/// Bad usage, or a request that cannot be met: one line on stderr, exit status 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum exit_status : int { all_held = 0, broken = 1, refused = 2 };

/// The text on one line.
std::string one_line(std::string_view);
/// The library's words, with the program's options in place of members of its settings.
std::string as_options(std::string_view);
/// What is said of std::bad_alloc.
inline constexpr std::string_view out_of_host_memory = "the host is out of memory; use smaller sizes";
/// 'gputm: ...' on stderr, on one line, as_options().
void complain(std::string_view);
std::vector<std::string> split(std::string_view, char separator);
std::string join(const std::vector<std::string>&, std::string_view separator);
/// A command line that a shell reads back as the same arguments.
std::string command_line(const std::vector<std::string>& arguments);
/// A number with the digits that matter.
std::string number(double, int digits = 4);

/// What is being done, on the last line of a terminal; silent where stderr is none.
class progress {
  std::size_t total_, done_ = 0;
  bool shown_ = false;

 public:
  explicit progress(std::size_t total) : total_(total) {}
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  /// The next step begins.
  void step(std::string_view what);
  /// Something about the step that is under way.
  void note(std::string_view what);
  void clear();
};

}  // namespace gputm::cli
