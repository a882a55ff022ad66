// Options: what they take, and the grid of all combinations of what was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputm::cli {

/// An option, nearly always a numeric one. It takes one value or a comma-separated list of them.
struct setting {
  std::string name;  ///< --name; in JSON with underscores
  std::string help;
  std::string fallback;  ///< empty: not set unless given
  bool whole = true;
  double least = 0, most = 0;
  std::uint64_t most_whole = 0;
  std::string word = {};                ///< what may stand in place of a number: it leaves the choice to gputm
  bool flag = false;                    ///< 0 or 1, given without a value
  std::vector<std::string> words = {};  ///< it takes one of these, and no number
  bool text = false;                    ///< it takes any text
};

setting whole_setting(std::string name, std::string fallback, std::uint64_t least, std::uint64_t most,
                      std::string help);
setting real_setting(std::string name, std::string fallback, double least, double most, std::string help);
/// A whole number, or 'auto'.
setting choice_setting(std::string name, std::uint64_t least, std::uint64_t most, std::string help);
setting flag_setting(std::string name, std::string help);
/// One of these words; the first one unless given.
setting word_setting(std::string name, std::vector<std::string> words, std::string help);
/// Any text without commas, but not none.
setting text_setting(std::string name, std::string fallback, std::string help);

struct value {
  std::string text;  ///< as given
  double real = 0;
  std::uint64_t whole = 0;  ///< 0 for the word; of several, the number of this one
};

/// Throws usage_error, with the option's name and what it takes.
value parse(const setting&, std::string_view text);
/// The same for a comma-separated list.
std::vector<value> parse_list(const setting&, std::string_view text);

/// A setting and the values that it takes in turn.
struct axis {
  cli::setting setting;
  std::vector<value> values;
};

/// One combination.
class point {
 public:
  struct entry {
    std::string name;
    bool whole, flag, text;
    cli::value value;
  };
  std::vector<entry> entries;

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// 0 if it is not set.
  std::uint64_t whole(std::string_view name) const;
  std::uint32_t whole32(std::string_view name) const { return static_cast<std::uint32_t>(whole(name)); }
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;

 private:
  const entry* find(std::string_view name) const;
};

/// All combinations; the last axis varies fastest. Throws usage_error if there are too many.
std::vector<point> combinations(const std::vector<axis>&);

}  // namespace gputm::cli
