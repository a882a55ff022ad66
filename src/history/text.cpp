// The text form of a history. It ends with a line of its own, so that a file that was cut off is noticed.
#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "gputm/history.hpp"

namespace gputm::history {
namespace {

constexpr std::string_view header = "gputm-history 1";
constexpr std::array<std::string_view, 3> endings = {"committed", "cancelled", "aborted"};

void write_values(std::ostream& out, std::string_view word, const values& v) {
  std::vector<std::pair<location, std::uint64_t>> sorted(v.begin(), v.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair{a.first.region, a.first.element} < std::pair{b.first.region, b.first.element};
  });
  for (const auto& [at, value] : sorted) out << word << ' ' << at.region << ':' << at.element << '=' << value << '\n';
}

class line_reader {
 public:
  line_reader(std::string_view text, std::size_t line) : rest_(text), line_(line) {}

  [[noreturn]] void fail(const std::string& what) const { throw format_error(line_, what); }

  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }

  std::string_view word(const char* expected) {
    if (at_end()) fail(std::string("the line ends where ") + expected + " should be");
    rest_.remove_prefix(rest_.find_first_not_of(' '));
    const std::string_view found = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(found.size());
    return found;
  }

  template <class T>
  T number(const char* expected) {
    return number_in<T>(word(expected), expected);
  }

  /// region:element=value
  access assignment(std::string_view text) const {
    const std::size_t colon = text.find(':'), equals = text.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
      fail("'" + std::string(text) + "' is not of the form region:element=value");
    access a;
    a.region = number_in<std::uint32_t>(text.substr(0, colon), "a region");
    a.element = number_in<std::uint32_t>(text.substr(colon + 1, equals - colon - 1), "an element");
    a.value = number_in<std::uint64_t>(text.substr(equals + 1), "a value");
    return a;
  }

 private:
  template <class T>
  T number_in(std::string_view text, const char* expected) const {
    T n{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size())
      fail("'" + std::string(text) + "' is not " + expected + " (a decimal number of " + std::to_string(8 * sizeof(T)) +
           " bits)");
    return n;
  }

  std::string_view rest_;
  std::size_t line_;
};

void read_value(line_reader& line, values& into) {
  const access a = line.assignment(line.word("region:element=value"));
  if (!into.emplace(location{a.region, a.element}, a.value).second) line.fail("this element was given a value before");
}

transaction read_transaction(line_reader& line, transaction::ended how) {
  transaction t;
  t.how = how;
  t.thread = line.number<std::uint32_t>("a thread");
  t.begin = line.number<std::uint64_t>("a begin");
  t.end = line.number<std::uint64_t>("an end");
  while (!line.at_end()) {
    const std::string_view word = line.word("an access");
    if (word.front() != 'r' && word.front() != 'w')
      line.fail("'" + std::string(word) + "' is not an access: those start with r or w");
    t.accesses.push_back(line.assignment(word.substr(1)));
    t.accesses.back().is_write = word.front() == 'w';
  }
  return t;
}

/// Returns false at the line that ends the history.
bool read_line(line_reader& line, history& h) {
  if (line.at_end()) return true;
  const std::string_view word = line.word("a word");
  if (word.front() == '#') return true;
  if (const auto how = std::find(endings.begin(), endings.end(), word); how != endings.end()) {
    h.transactions.push_back(read_transaction(line, static_cast<transaction::ended>(how - endings.begin())));
    return true;
  }
  if (word == "initial")
    read_value(line, h.initial);
  else if (word == "final")
    read_value(line, h.final);
  else if (word != "end")
    line.fail("'" + std::string(word) + "' is none of initial, committed, cancelled, aborted, final, end");
  if (!line.at_end()) line.fail("there is more on this line than expected");
  return word != "end";
}

bool next_line(std::istream& in, std::string& text) {
  if (!std::getline(in, text)) return false;
  if (!text.empty() && text.back() == '\r') text.pop_back();
  std::replace(text.begin(), text.end(), '\t', ' ');
  return true;
}

}  // namespace

format_error::format_error(std::size_t at, const std::string& what)
    : std::runtime_error("history, line " + std::to_string(at) + ": " + what), line(at) {}

void write(std::ostream& out, const history& h) {
  out << header << '\n';
  write_values(out, "initial", h.initial);
  for (const transaction& t : h.transactions) {
    out << endings.at(static_cast<std::size_t>(t.how)) << ' ' << t.thread << ' ' << t.begin << ' ' << t.end;
    for (const access& a : t.accesses)
      out << (a.is_write ? " w" : " r") << a.region << ':' << a.element << '=' << a.value;
    out << '\n';
  }
  write_values(out, "final", h.final);
  out << "end\n";
  out.flush();
  if (!out) throw std::ios_base::failure("a history could not be written");
}

history read(std::istream& in) {
  history h;
  std::string text;
  std::size_t line = 1;
  if (!next_line(in, text) || text != header)
    throw format_error(line, "a history starts with the line '" + std::string(header) + "'");
  while (next_line(in, text)) {
    line_reader reader(text, ++line);
    if (!read_line(reader, h)) return h;
  }
  throw format_error(line, "the history is cut off: no line 'end' follows");
}

}  // namespace gputm::history
