// `report`: a Markdown table of medians from what `bench --json` wrote.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using json = nlohmann::ordered_json;

std::vector<json> read_runs(const std::vector<std::string>& files) {
  std::vector<json> runs;
  for (const std::string& name : files) {
    std::ifstream in(name);
    if (!in) throw usage_error("'" + name + "' cannot be read");
    const json all = json::parse(in, nullptr, false);
    if (!all.is_array()) throw usage_error("'" + name + "' is not what bench --json writes");
    for (const json& run : all) {
      for (const char* key : {"workload", "algorithm", "device_name", "commit", "parameters", "commits",
                              "read_only_commits", "commits_per_second", "aborts_per_commit", "invariant_ok"})
        if (!run.is_object() || !run.contains(key))
          throw usage_error(fmt::format("'{}' is not what bench --json writes: a run without '{}'", name, key));
      runs.push_back(run);
    }
  }
  if (runs.empty()) throw usage_error("no runs in these files");
  return runs;
}

/// Runs that differ in nothing but what was measured.
struct repetitions {
  std::vector<json> runs;

  double median(const char* key) const {
    std::vector<double> all;
    for (const json& r : runs) all.push_back(r.at(key).get<double>());
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  std::pair<double, double> range(const char* key) const {
    double low = runs[0].at(key), high = low;
    for (const json& r : runs) {
      low = std::min(low, r.at(key).get<double>());
      high = std::max(high, r.at(key).get<double>());
    }
    return {low, high};
  }
  bool all_held() const {
    return std::all_of(runs.begin(), runs.end(), [](const json& r) { return r.at("invariant_ok").get<bool>(); });
  }
};

/// A table for each workload and device.
class section {
  std::vector<repetitions> rows_;
  std::map<std::string, std::size_t> row_of_;
  std::set<std::string> commits_;

 public:
  void add(const json& run) {
    json parameters = run.at("parameters");
    parameters.erase("seed");
    const auto [at, fresh] =
        row_of_.try_emplace(run.at("algorithm").get<std::string>() + parameters.dump(), rows_.size());
    if (fresh) rows_.emplace_back();
    rows_[at->second].runs.push_back(run);
    commits_.insert(run.at("commit").get<std::string>());
  }
  std::string markdown(const std::string& title) const {
    std::string text = fmt::format("## {}\n\nCommit {}.\n\n", title, join({commits_.begin(), commits_.end()}, ", "));
    const std::vector<std::string> varying = varying_parameters();
    text += "| algorithm |";
    for (const std::string& name : varying) text += " " + name + " |";
    text += " blocks x threads | commits/s (M), median | range | aborts/commit | read-only | runs | invariant |\n|---|";
    for (std::size_t k = 0; k < varying.size() + 7; ++k) text += "---|";
    text += "\n";
    for (const repetitions& r : rows_) text += row(r, varying);
    return text;
  }

 private:
  static std::string parameter(const json& run, const std::string& name) {
    const json& all = run.at("parameters");
    return all.contains(name) ? all.at(name).dump() : "";
  }
  std::vector<std::string> varying_parameters() const {
    std::map<std::string, std::set<std::string>> values;
    for (const repetitions& r : rows_)
      for (const auto& [name, value] : r.runs[0].at("parameters").items()) values[name].insert(value.dump());
    std::vector<std::string> varying;
    for (const auto& [name, all] : values)
      if (all.size() > 1 && name != "blocks" && name != "threads" && name != "seed") varying.push_back(name);
    return varying;
  }
  static std::string row(const repetitions& r, const std::vector<std::string>& varying) {
    const json& first = r.runs[0];
    std::string text = "| " + first.at("algorithm").get<std::string>() + " |";
    for (const std::string& name : varying) text += " " + parameter(first, name) + " |";
    const auto [low, high] = r.range("commits_per_second");
    return text + fmt::format(" {} x {} | {} | {}..{} | {} | {:.1f} % | {} | {} |\n", parameter(first, "blocks"),
                              parameter(first, "threads"), number(r.median("commits_per_second") / 1e6),
                              number(low / 1e6), number(high / 1e6), number(r.median("aborts_per_commit"), 3),
                              100 * r.median("read_only_commits") / std::max(1.0, r.median("commits")), r.runs.size(),
                              r.all_held() ? "ok" : "BROKEN");
  }
};

}  // namespace

int report(const report_request& r) {
  const std::vector<json> runs = read_runs(r.files);
  std::map<std::string, section> sections;
  for (const json& run : runs)
    sections[fmt::format("{} on {}", run.at("workload").get<std::string>(), run.at("device_name").get<std::string>())]
        .add(run);
  std::error_code error;
  std::filesystem::create_directories(r.directory, error);
  const std::string path = (std::filesystem::path(r.directory) / "report.md").string();
  std::ofstream out(path);
  out << "# Runs of the gputm program\n";
  for (const auto& [title, s] : sections) out << "\n" << s.markdown(title);
  out.close();
  if (!out) throw usage_error("'" + path + "' cannot be written");
  fmt::print("{}: {} runs\n", path, runs.size());
  return all_held;
}

}  // namespace gputm::cli
