#include "text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace gputm::cli {

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\n')) ++i;
    if (i + 1 < text.size()) line += "; ";
  }
  return line;
}

std::string as_options(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"capacity.reads", "--reads"},
                                                                     {"capacity.writes", "--writes"},
                                                                     {"patience.stuck_ns", "--stuck-seconds"},
                                                                     {"words_per_lock", "--words-per-lock"}};
  std::string said(text);
  for (const auto& [member, option] : names)
    if (const std::size_t at = said.find(member); at != std::string::npos) said.replace(at, member.size(), option);
  return said;
}

void complain(std::string_view what) {
  std::fputs(("gputm: " + one_line(as_options(what)) + "\n").c_str(), stderr);  // fmt throws where nobody can be told
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string command_line(const std::vector<std::string>& arguments) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";
  std::vector<std::string> quoted;
  for (const std::string& a : arguments) {
    if (!a.empty() && a.find_first_not_of(plain) == std::string::npos) {
      quoted.push_back(a);
      continue;
    }
    std::string q = "'";
    for (char c : a) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back(q + "'");
  }
  return join(quoted, " ");
}

std::string number(double x, int digits) { return fmt::format("{:.{}g}", x, digits); }

void progress::step(std::string_view what) {
  ++done_;
  note(what);
}
void progress::note(std::string_view what) {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  if (!terminal) return;
  fmt::print(stderr, "\r\033[K[{}/{}] {}", done_, total_, what);
  std::fflush(stderr);
  shown_ = true;
}
void progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace gputm::cli
