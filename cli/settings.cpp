#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text.hpp"

namespace gputm::cli {
namespace {

constexpr std::size_t most_combinations = 100'000;

std::string range_of(const setting& s) {
  if (s.text) return "a name";
  if (!s.words.empty()) {
    const std::vector<std::string> before(s.words.begin(), s.words.end() - 1);
    return join(before, ", ") + " or " + s.words.back();
  }
  const std::string numbers = s.whole ? fmt::format("a whole number from {} to {}", s.least, s.most_whole)
                                      : fmt::format("a number from {} to {}", s.least, s.most);
  return s.word.empty() ? numbers : numbers + " or '" + s.word + "'";
}

}  // namespace

setting whole_setting(std::string name, std::string fallback, std::uint64_t least, std::uint64_t most,
                      std::string help) {
  setting s{std::move(name), std::move(help), std::move(fallback)};
  s.least = static_cast<double>(least);
  s.most_whole = most;
  return s;
}
setting real_setting(std::string name, std::string fallback, double least, double most, std::string help) {
  setting s{std::move(name), std::move(help), std::move(fallback)};
  s.whole = false;
  s.least = least;
  s.most = most;
  return s;
}
setting choice_setting(std::string name, std::uint64_t least, std::uint64_t most, std::string help) {
  setting s = whole_setting(std::move(name), "auto", least, most, std::move(help));
  s.word = "auto";
  return s;
}

setting flag_setting(std::string name, std::string help) {
  setting s = whole_setting(std::move(name), "0", 0, 1, std::move(help));
  s.flag = true;
  return s;
}

setting word_setting(std::string name, std::vector<std::string> words, std::string help) {
  setting s{std::move(name), std::move(help), words.front()};
  s.words = std::move(words);
  return s;
}
setting text_setting(std::string name, std::string fallback, std::string help) {
  setting s{std::move(name), std::move(help), std::move(fallback)};
  s.text = true;
  return s;
}

namespace {

/// One value of the list `given`.
value parse_part(const setting& s, std::string_view text, std::string_view given) {
  value v;
  v.text = text;
  if (!s.word.empty() && text == s.word) return v;
  const char* end = text.data() + text.size();
  bool ok;
  if (s.text) {
    ok = !text.empty();
  } else if (!s.words.empty()) {
    const auto at = std::find(s.words.begin(), s.words.end(), text);
    v.whole = static_cast<std::uint64_t>(at - s.words.begin());
    ok = at != s.words.end();
  } else if (s.whole) {
    const auto [stop, error] = std::from_chars(text.data(), end, v.whole);
    v.real = static_cast<double>(v.whole);
    ok = error == std::errc() && stop == end && v.real >= s.least && v.whole <= s.most_whole;
  } else {
    const auto [stop, error] = std::from_chars(text.data(), end, v.real);
    ok = error == std::errc() && stop == end && std::isfinite(v.real) && v.real >= s.least && v.real <= s.most;
  }
  if (ok) return v;
  const std::string which = text == given ? "" : fmt::format("'{}' is wrong, ", text);
  throw usage_error(fmt::format("--{} '{}': {}it takes {}", s.name, given, which, range_of(s)));
}

}  // namespace

value parse(const setting& s, std::string_view text) { return parse_part(s, text, text); }

std::vector<value> parse_list(const setting& s, std::string_view text) {
  std::vector<value> values;
  for (const std::string& part : split(text, ',')) values.push_back(parse_part(s, part, text));
  return values;
}

const point::entry* point::find(std::string_view name) const {
  for (const entry& e : entries)
    if (e.name == name) return &e;
  return nullptr;
}
std::uint64_t point::whole(std::string_view name) const {
  const entry* e = find(name);
  return e ? e->value.whole : 0;
}
double point::real(std::string_view name) const {
  const entry* e = find(name);
  return e ? e->value.real : 0;
}
std::string point::text(std::string_view name) const {
  const entry* e = find(name);
  return e ? e->value.text : "";
}

std::vector<point> combinations(const std::vector<axis>& axes) {
  std::vector<point> all(1);
  for (const axis& a : axes) {
    if (all.size() * a.values.size() > most_combinations)
      throw usage_error(fmt::format("more than {} combinations of options", most_combinations));
    std::vector<point> longer;
    for (const point& p : all)
      for (const value& v : a.values) {
        longer.push_back(p);
        longer.back().entries.push_back(
            {a.setting.name, a.setting.whole, a.setting.flag, a.setting.text || !a.setting.words.empty(), v});
      }
    all = std::move(longer);
  }
  return all;
}

}  // namespace gputm::cli
