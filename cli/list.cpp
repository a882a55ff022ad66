#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "gpus.hpp"
#include "gputm/error.hpp"
#include "json.hpp"
#include "text.hpp"
#include "workload_table.hpp"

namespace gputm::cli {
namespace {

using json = nlohmann::ordered_json;

struct trait {
  const char* name;
  bool algorithm_traits::*is;
};
constexpr trait traits[] = {{"opaque", &algorithm_traits::opaque},
                            {"multi_version", &algorithm_traits::multi_version},
                            {"needs_server", &algorithm_traits::needs_server},
                            {"several_servers", &algorithm_traits::several_servers},
                            {"server_cluster", &algorithm_traits::server_cluster},
                            {"warp_collective", &algorithm_traits::warp_collective},
                            {"in_place_writes", &algorithm_traits::in_place_writes},
                            {"keeps_stores", &algorithm_traits::keeps_stores},
                            {"isolated", &algorithm_traits::isolated},
                            {"one_thread", &algorithm_traits::one_thread},
                            {"needs_footprint", &algorithm_traits::needs_footprint},
                            {"launches_overlap", &algorithm_traits::launches_overlap},
                            {"logs_read_only", &algorithm_traits::logs_read_only}};

std::vector<std::string> workloads_of(const algorithm_entry& a) {
  std::vector<std::string> names;
  for (const workload_entry& w : workload_table())
    if (w.why_not(a).empty()) names.emplace_back(w.name);
  return names;
}

/// libitm is no Algorithm: it has no traits of one.
json traits_of(const algorithm_entry& a) {
  json o = json::object();
  if (a.host_only) return o;
  for (const trait& t : traits) o[t.name] = a.traits.*t.is;
  return o;
}
/// Those that differ from what a transactional memory on all threads has.
std::string traits_text(const algorithm_entry& a) {
  if (a.host_only) return "host only";
  std::vector<std::string> words;
  for (const trait& t : traits) {
    const std::string name = t.name;
    if (name == "isolated" ? !(a.traits.*t.is) : a.traits.*t.is)
      words.push_back(name == "isolated" ? "not isolated" : name);
  }
  std::string text = join(words, ", ");
  for (char& c : text)
    if (c == '_') c = ' ';
  return text;
}

struct loop_trait {
  const char* name;
  bool loop_traits::*is;
};
constexpr loop_trait all_loop_traits[] = {{"one_thread", &loop_traits::one_thread},
                                          {"barriers", &loop_traits::barriers},
                                          {"table", &loop_traits::table},
                                          {"logs", &loop_traits::logs},
                                          {"ordered", &loop_traits::ordered}};

json traits_of_engine(const algorithm_entry& a) {
  json o = json::object();
  for (const loop_trait& t : all_loop_traits) o[t.name] = (*a.loop).*t.is;
  o["in_place_writes"] = a.traits.in_place_writes;
  return o;
}
std::string traits_text_of_engine(const algorithm_entry& a) {
  std::vector<std::string> words;
  if (a.role == role::baseline) words.emplace_back("baseline");
  if (a.loop->one_thread) words.emplace_back("one thread");
  if (a.traits.in_place_writes) words.emplace_back("in place writes");
  if (!a.loop->ordered) words.emplace_back("not ordered");
  return join(words, ", ");
}

struct named_device {
  std::string name, description;
};
std::vector<named_device> devices() {
  std::vector<named_device> all{{"host", host_device()->name()}};
  for (int i = 0; i < gpu_count(); ++i) {
    try {
      all.push_back({"cuda:" + std::to_string(i), gpu(i)->name()});
    } catch (const error& e) {
      all.push_back({"cuda:" + std::to_string(i), one_line(e.what())});
    }
  }
  return all;
}

json as_json() {
  json all{{"algorithms", json::array()}, {"loop_engines", json::array()}, {"workloads", json::array()},
           {"devices", json::array()},    {"cuda", built_with_cuda()},     {"commit", built_from()}};
  for (const algorithm_entry& a : algorithms())
    all["algorithms"].push_back({{"name", a.name},
                                 {"baseline", a.role == role::baseline},
                                 {"about", a.about},
                                 {"host_only", a.host_only},
                                 {"traits", traits_of(a)},
                                 {"workloads", workloads_of(a)}});
  for (const algorithm_entry& a : engines())
    all["loop_engines"].push_back({{"name", a.name},
                                   {"baseline", a.role == role::baseline},
                                   {"about", a.about},
                                   {"traits", traits_of_engine(a)},
                                   {"workloads", workloads_of(a)}});
  for (const workload_entry& w : workload_table()) {
    json options = json::array();
    for (const setting& s : w.settings) options.push_back("--" + s.name);
    all["workloads"].push_back({{"name", w.name}, {"about", w.about}, {"options", options}});
  }
  for (const named_device& d : devices()) all["devices"].push_back({{"name", d.name}, {"device_name", d.description}});
  return all;
}

void print_algorithms(const char* title, role which) {
  fmt::print("{}\n", title);
  for (const algorithm_entry& a : algorithms())
    if (a.role == which) fmt::print("  {:<20} {}\n  {:<20} [{}]\n", a.name, a.about, "", traits_text(a));
}

}  // namespace

int list(const list_request& r) {
  if (r.json) {
    fmt::print("{}\n", as_json().dump(2));
    return all_held;
  }
  print_algorithms("Algorithms", role::algorithm);
  print_algorithms("\nBaselines", role::baseline);
  fmt::print("\nLoop engines\n");
  for (const algorithm_entry& a : engines()) {
    fmt::print("  {:<21} {}\n", a.name, a.about);
    if (const std::string traits = traits_text_of_engine(a); !traits.empty()) fmt::print("  {:<21} [{}]\n", "", traits);
  }
  fmt::print("\nWorkloads\n");
  for (const workload_entry& w : workload_table()) {
    std::vector<std::string> options;
    for (const setting& s : w.settings) options.push_back("--" + s.name);
    fmt::print("  {:<20} {}\n  {:<20} {}\n", w.name, w.about, "", join(options, " "));
  }
  fmt::print("\nDevices\n");
  for (const named_device& d : devices()) fmt::print("  {:<20} {}\n", d.name, d.description);
  if (!built_with_cuda()) fmt::print("  (this program was built without CUDA)\n");
  return all_held;
}

}  // namespace gputm::cli
