#include "json.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commit.hpp"
#include "libitm_bank.hpp"
#include "text.hpp"

namespace gputm::cli {
namespace {

using json = nlohmann::ordered_json;

json plain(double x) {
  if (x == std::floor(x) && std::fabs(x) < 9e15) return static_cast<std::int64_t>(x);
  return x;
}

json parameters_of(const run_record& r) {
  json p = json::object();
  for (const point::entry& e : r.parameters->entries) {
    std::string name = e.name;
    for (char& c : name)
      if (c == '-') c = '_';
    if (e.flag)
      p[name] = e.value.whole != 0;
    else if (e.name == "blocks" && r.measured.blocks)
      p[name] = r.measured.blocks;
    else if (e.name == "threads" && r.measured.threads)
      p[name] = r.measured.threads;
    else if (e.name == "cluster")
      p[name] = r.measured.clusters ? "on" : "off";
    else if (e.name == "os-threads")
      p[name] = r.os_threads;
    else if (e.text)
      p[name] = e.value.text;
    else if (e.value.text == "auto")
      continue;
    else
      p[name] = e.whole ? json(e.value.whole) : plain(e.value.real);
  }
  if (r.measured.clusters) p["cluster"] = "on";  // also where nobody asked
  if (r.algorithm->name == "libitm") p["itm_method"] = workloads::libitm_method();
  return p;
}

/// What runs of loops have besides.
void add_loop(json& o, const workloads::measurement& m) {
  const workloads::loop_figures& f = *m.loop;
  json violations = json::object();
  for (unsigned k = 0; k < violation_kinds; ++k) violations[name(static_cast<violation>(k))] = f.counters.violations[k];
  o["iterations"] = f.counters.iterations;
  o["rounds"] = f.counters.rounds;
  o["re_executed"] = f.counters.re_executed();
  o["serial"] = f.counters.serial;
  o["in_place"] = f.counters.in_place;
  o["forwarded"] = f.counters.forwarded;
  o["violations"] = violations;
  o["identical_to_sequential"] = f.identical ? json(*f.identical) : json(nullptr);
  o["judged"] = f.judged;
  o["seconds_sequential"] = f.seconds_sequential;
  o["speedup"] = workloads::speedup(m);
}

json object_of(const run_record& r, const std::string& command) {
  const statistics& s = r.measured.stats;
  json aborts = json::object();
  for (unsigned k = 1; k < abort_reasons; ++k) aborts[name(static_cast<abort_reason>(k))] = s.aborts[k];
  json o{{"workload", r.workload},
         {"algorithm", r.algorithm->name},
         {"device", r.device},
         {"device_name", r.device_name},
         {"commit", built_from()},
         {"command", command},
         {"parameters", parameters_of(r)},
         {"commits", s.commits},
         {"read_only_commits", s.read_only_commits},
         {"aborts", aborts},
         {"read_only_aborts", s.read_only_aborts},
         {"seconds", r.measured.seconds},
         {"commits_per_second", r.measured.commits_per_second()},
         {"aborts_per_commit", s.aborts_per_commit()},
         {"invariant_ok", r.measured.ok},
         {"invariant", r.measured.invariant},
         {"isolated", r.algorithm->traits.isolated}};
  if (r.measured.loop) add_loop(o, r.measured);
  if (!r.failed.empty()) o["error"] = r.failed;
  if constexpr (GPUTM_PHASES != 0) {
    const double transactions = s.commits ? static_cast<double>(s.commits) : 1;
    for (unsigned k = 0; k < phases; ++k)
      o["phases"][name(static_cast<phase>(k))] = static_cast<double>(s.phase_ns[k]) / 1000 / transactions;
  }
  return o;
}

}  // namespace

std::string_view built_from() { return GPUTM_COMMIT; }

json_file::json_file(std::string path, std::string command) : path_(std::move(path)), command_(std::move(command)) {
  if (path_.empty()) return;
  if (path_.starts_with("--"))
    throw usage_error("--json '" + path_ + "' names a file like an option: --json FILE, or ./" + path_);
  if (path_ == "-") {
    file_ = stdout;
    return;
  }
  std::error_code unknown;
  created_ = !std::filesystem::exists(std::filesystem::symlink_status(path_, unknown));
  file_ = std::fopen(path_.c_str(), "a");  // what is there is kept until there is something to write
  if (!file_) throw usage_error("--json '" + path_ + "' cannot be written: " + std::strerror(errno));
}
void json_file::begin() {
  if (begun_) return;
  begun_ = true;
  std::error_code none;  // what is no file cannot be cut off
  if (file_ != stdout) std::filesystem::resize_file(path_, 0, none);
  std::fputs("[", file_);
}
void json_file::add(const run_record& r) {
  if (!file_) return;
  const char* const separator = begun_ ? "," : "";
  begin();
  const std::string text = object_of(r, command_).dump(-1, ' ', false, json::error_handler_t::replace);
  std::fprintf(file_, "%s\n%s", separator, text.c_str());
  std::fflush(file_);
}
void json_file::close() {
  if (!file_) return;
  const bool nothing = !begun_ && file_ != stdout;
  if (!nothing) {
    begin();
    std::fputs("\n]\n", file_);
    std::fflush(file_);
  }
  bool failed = std::ferror(file_) != 0;
  if (file_ != stdout) failed |= std::fclose(file_) != 0;
  file_ = nullptr;
  std::error_code none;
  if (nothing && created_) std::filesystem::remove(path_, none);
  if (failed) throw usage_error("--json '" + path_ + "' could not be written to the end");
}
json_file::~json_file() {
  try {
    close();
  } catch (const usage_error&) {  // the exception that is under way says more
  }
}

}  // namespace gputm::cli
