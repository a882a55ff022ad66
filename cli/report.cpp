// `report`: Markdown tables of medians from what `bench --json` wrote, and figures.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "commands.hpp"
#include "plots.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using json = nlohmann::ordered_json;

/// The array that bench has written; if it was killed, its whole runs.
json array_of(const std::string& text) {
  json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) all = json::parse(text + "]", nullptr, false);
  if (all.is_discarded()) all = json::parse(text.substr(0, text.rfind(",\n{")) + "]", nullptr, false);
  return all;
}

void check_run(const json& run, const std::string& file) {
  const auto needs = [&](const char* key, bool (*fits)(const json&)) {
    if (!run.is_object() || !run.contains(key) || !fits(run.at(key)))
      throw usage_error(fmt::format("'{}' is not what bench --json writes: a run without '{}'", file, key));
  };
  const auto number = [](const json& x) { return x.is_number(); };
  for (const char* key : {"workload", "algorithm", "device_name", "commit"})
    needs(key, [](const json& x) { return x.is_string(); });
  needs("parameters", [](const json& x) { return x.is_object(); });
  needs("invariant_ok", [](const json& x) { return x.is_boolean(); });
  for (const char* key : {"seconds", "commits", "read_only_commits", "commits_per_second", "aborts_per_commit"})
    needs(key, number);
  if (run.contains("speedup"))
    for (const char* key : {"speedup", "rounds", "re_executed"}) needs(key, number);
}

std::vector<json> read_runs(const std::vector<std::string>& files) {
  std::vector<json> runs;
  for (const std::string& name : files) {
    if (std::filesystem::is_directory(name)) throw usage_error("'" + name + "' is a directory, and no file of runs");
    std::ifstream in(name);
    if (!in) throw usage_error("'" + name + "' cannot be read");
    const json all = array_of(std::string(std::istreambuf_iterator<char>(in), {}));
    if (!all.is_array()) throw usage_error("'" + name + "' is not what bench --json writes");
    for (const json& run : all) {
      check_run(run, name);
      runs.push_back(run);
    }
  }
  if (runs.empty()) throw usage_error("no runs in these files");
  return runs;
}

/// Runs that differ in nothing but what was measured.
class repetitions {
  std::vector<json> runs_;
  std::size_t failed_ = 0;  // which say nothing but why

 public:
  void add(const json& run) {
    if (run.contains("error"))
      ++failed_;
    else
      runs_.push_back(run);
  }
  std::string count() const { return std::to_string(runs_.size() + failed_); }
  bool none_ended() const { return runs_.empty(); }
  double median(const char* key) const {
    const std::vector<double> all = sorted(key);
    return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
  }
  /// Of values in other units: `scale` of what is in the file.
  std::string median_and_range(const char* key, double scale) const {
    const std::vector<double> all = sorted(key);
    return fmt::format("{} | {}..{}", number(median(key) * scale), number(all.front() * scale),
                       number(all.back() * scale));
  }
  /// As the table of bench says it: what nobody promises does not count.
  std::string invariant() const {
    const auto says = [](const json& r, const char* key) { return !r.contains(key) || r.at(key) != false; };
    std::string text = none_ended() ? "failed" : "ok";
    for (const json& r : runs_) {
      const bool judged = says(r, "isolated") && says(r, "judged");
      if (says(r, "invariant_ok")) continue;
      if (judged) return "BROKEN";
      text = r.contains("speedup") ? "differs (nothing orders its iterations)" : "BROKEN (nothing isolates it)";
    }
    return !none_ended() && failed_ != 0 ? fmt::format("{}; {} failed", text, failed_) : text;
  }

 private:
  std::vector<double> sorted(const char* key) const {
    std::vector<double> all;
    for (const json& r : runs_) all.push_back(r.at(key).get<double>());
    std::sort(all.begin(), all.end());
    return all;
  }
};

/// A table for each workload and device.
class section {
  struct row {
    json first;  ///< one of its runs, for what they have in common
    repetitions runs;
  };
  std::vector<row> rows_;
  std::map<std::string, std::size_t> row_of_;
  std::set<std::string> commits_;
  bool loop_ = false;

 public:
  void add(const json& run) {
    json parameters = run.at("parameters");
    parameters.erase("seed");
    const auto [at, fresh] =
        row_of_.try_emplace(run.at("algorithm").get<std::string>() + parameters.dump(), rows_.size());
    if (fresh) rows_.push_back({run, {}});
    rows_[at->second].runs.add(run);
    commits_.insert(run.at("commit").get<std::string>());
    loop_ = loop_ || run.contains("speedup");
  }
  std::string markdown(const std::string& title) const {
    std::string text = fmt::format("## {}\n\nCommit {}.\n\n", title, join({commits_.begin(), commits_.end()}, ", "));
    const std::vector<std::string> varying = varying_parameters();
    std::vector<std::string> titles{"algorithm"};
    titles.insert(titles.end(), varying.begin(), varying.end());
    titles.emplace_back("blocks x threads");
    for (const std::string& measured : measured_titles()) titles.push_back(measured);
    titles.insert(titles.end(), {"runs", "invariant"});
    text += "| " + join(titles, " | ") + " |\n|";
    for (std::size_t k = 0; k < titles.size(); ++k) text += "---|";
    text += "\n";
    for (const row& r : rows_) text += line(r, varying);
    return text;
  }

 private:
  static std::string parameter(const json& run, const std::string& name) {
    const json& all = run.at("parameters");
    if (!all.contains(name)) return "";
    return all.at(name).is_string() ? all.at(name).get<std::string>() : all.at(name).dump();
  }
  std::vector<std::string> varying_parameters() const {
    std::map<std::string, std::set<std::string>> values;
    for (const row& r : rows_)
      for (const auto& [name, value] : r.first.at("parameters").items()) values[name].insert(value.dump());
    std::vector<std::string> varying;
    for (const auto& [name, all] : values)
      if (all.size() > 1 && name != "blocks" && name != "threads" && name != "seed") varying.push_back(name);
    return varying;
  }
  std::vector<std::string> measured_titles() const {
    if (loop_) return {"ms, median", "range", "over one core", "rounds", "executed again"};
    return {"commits/s (M), median", "range", "aborts/commit", "read-only"};
  }
  std::string measured(const repetitions& r) const {
    if (r.none_ended()) return join(std::vector<std::string>(measured_titles().size()), " | ");
    if (loop_)
      return fmt::format("{} | {} | {} | {}", r.median_and_range("seconds", 1e3), number(r.median("speedup"), 3),
                         number(r.median("rounds"), 9), number(r.median("re_executed"), 12));
    return fmt::format("{} | {} | {:.1f} %", r.median_and_range("commits_per_second", 1e-6),
                       number(r.median("aborts_per_commit"), 3),
                       100 * r.median("read_only_commits") / std::max(1.0, r.median("commits")));
  }
  std::string line(const row& r, const std::vector<std::string>& varying) const {
    std::string text = "| " + r.first.at("algorithm").get<std::string>() + " |";
    for (const std::string& name : varying) text += " " + parameter(r.first, name) + " |";
    return text + fmt::format(" {} x {} | {} | {} | {} |\n", parameter(r.first, "blocks"),
                              parameter(r.first, "threads"), measured(r.runs), r.runs.count(), r.runs.invariant());
  }
};

}  // namespace

namespace {

/// What a file can be called.
std::string file_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '-';
  return text + ".svg";
}

}  // namespace

int report(const report_request& r) {
  const std::vector<json> runs = read_runs(r.files);
  std::map<std::pair<std::string, std::string>, section> sections;
  for (const json& run : runs)
    sections[{run.at("workload").get<std::string>(), run.at("device_name").get<std::string>()}].add(run);
  std::error_code error;
  std::filesystem::create_directories(r.directory, error);
  const std::string path = (std::filesystem::path(r.directory) / "report.md").string();
  std::ofstream out(path);
  out << "# Runs of the gputm program\n";
  bool can = true;
  std::size_t figures = 0;
  for (const auto& [of, s] : sections) {
    const auto& [workload, device_name] = of;
    const std::string title = workload + " on " + device_name, figure = file_name(title);
    out << "\n" << s.markdown(title);
    const drawn done =
        out && can ? draw(r.files, workload, device_name, (std::filesystem::path(r.directory) / figure).string())
                   : drawn::nothing;
    if (done == drawn::figure) out << "\n![" << title << "](" << figure << ")\n";
    figures += done == drawn::figure;
    can = can && done != drawn::cannot;
  }
  out.close();
  if (!out) throw usage_error("'" + path + "' cannot be written");
  fmt::print("{}: {} runs, {}\n", path, runs.size(),
             can ? std::to_string(figures) + (figures == 1 ? " figure" : " figures")
                 : "no figures: they need python3 and matplotlib (apt-get install python3-matplotlib)");
  return all_held;
}

}  // namespace gputm::cli
