// The gputm program: reads the command line and runs a command.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.hpp"
#include "gputm/error.hpp"
#include "json.hpp"
#include "text.hpp"
#include "venues.hpp"
#include "workload_table.hpp"

namespace gputm::cli {
namespace {

constexpr const char* version = GPUTM_VERSION;

/// Under the name of its group; if another one has it already, and takes it for something else, with that one's.
void add_setting(CLI::App& app, const setting& s, bench_request& r, const std::string& group) {
  std::string help = s.help;
  if (!s.fallback.empty() && !s.flag) help += " [" + s.fallback + "]";
  if (CLI::Option* const others = app.get_option_no_throw("--" + s.name)) {
    const std::string& said = others->get_description();
    if (said.find(help) == std::string::npos) others->description(said + "; " + group + ": " + help);
    return;
  }
  CLI::Option* o =
      s.flag ? app.add_flag_callback(
                      "--" + s.name, [&r, name = s.name] { r.given[name] = "1"; }, help)
                   ->disable_flag_override()
             : app.add_option_function<std::string>(
                      "--" + s.name, [&r, name = s.name](const std::string& text) { r.given[name] = text; }, help)
                   ->type_name(s.text || !s.words.empty() ? "NAME[,...]" : "N[,N...]");
  o->group(group);
}

/// Where none is something else than an empty one, as of a variable of the shell that is not set.
const CLI::Validator not_empty([](const std::string& text) { return std::string(text.empty() ? "it is empty" : ""); },
                               "");

void add_bench(CLI::App& program, bench_request& r, std::string& repeat) {
  CLI::App& app = *program.add_subcommand("bench", "Runs a workload, checks it, prints a table");
  app.add_option("workload", r.workload, "what to run; `gputm list` says what there is")->required();
  app.add_option("--algorithm", r.algorithm, "names separated by commas, or all")->type_name("A[,B...]");
  app.add_option("--device", r.device, "host, cuda or cuda:N; a GPU if there is one")->type_name("D")->check(not_empty);
  app.add_option("--json", r.json, "write the runs as JSON; - for stdout, and nothing else there")
      ->type_name("FILE")
      ->check(not_empty);
  app.add_option("--repeat", repeat, "runs of each combination; the table shows the median")->type_name("R");
  for (const setting& s : loop_settings()) add_setting(app, s, r, "Every workload (each takes a list)");
  for (const setting& s : common_settings()) add_setting(app, s, r, "Every workload of transactions");
  for (const setting& s : host_settings()) add_setting(app, s, r, "The host device");
  for (const workload_entry& w : workload_table())
    for (const setting& s : w.settings) add_setting(app, s, r, "The workload " + std::string(w.name));
}

/// Numbers of `check`, as text until they have been looked at.
struct check_numbers {
  std::string schedules = "1000", seed = "1", first = "0", weak = "on";

  void into(check_request& r) const {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    r.schedules = parse(whole_setting("schedules", "", 1, any >> 1, ""), schedules).whole;
    r.seed = parse(whole_setting("seed", "", 0, any, ""), seed).whole;
    r.first = parse(whole_setting("first", "", 0, any >> 1, ""), first).whole;
    if (weak != "on" && weak != "off") throw usage_error("--weak '" + weak + "': it takes on or off");
    r.weak = weak == "on";
  }
};

void add_check(CLI::App& program, check_request& r, check_numbers& n) {
  CLI::App& app = *program.add_subcommand("check", "Explores schedules on the host device");
  app.add_option("--algorithm", r.algorithm, "names separated by commas, or all but unsafe and doall")
      ->type_name("A[,B...]");
  app.add_option("--workload", r.workload, "names separated by commas, or all")->type_name("W[,V...]");
  app.add_option("--schedules", n.schedules, "how many, of each algorithm and workload [1000]")->type_name("N");
  app.add_option("--seed", n.seed, "of the schedules [1]")->type_name("S");
  app.add_option("--first", n.first, "number of the first schedule, to replay one [0]")->type_name("N");
  app.add_option("--weak", n.weak, "on: loads may return older values where the memory model lets them [on]")
      ->type_name("on|off");
  app.add_option("--dump", r.dump, "write the failing history to this file, of a workload that keeps one")
      ->type_name("FILE")
      ->check(not_empty);
}

int run(int argc, char** argv) {
  CLI::App program("Software transactions and speculative loops for GPUs", "gputm");
  program.set_version_flag("--version", std::string("gputm ") + version + ", commit " + std::string(built_from()));
  program.require_subcommand(0, 1);
  list_request for_list;
  bench_request for_bench;
  check_request for_check;
  report_request for_report;
  std::string repeat = "1";
  check_numbers numbers;
  CLI::App& list_app = *program.add_subcommand("list", "Algorithms, loop engines, workloads and devices");
  list_app.add_flag("--json", for_list.json, "as JSON");
  add_bench(program, for_bench, repeat);
  add_check(program, for_check, numbers);
  CLI::App& report_app = *program.add_subcommand("report", "Tables and plots from the JSON of bench");
  report_app.add_option("files", for_report.files, "what bench --json wrote")->required()->type_name("FILE...");
  report_app.add_option("-o,--output", for_report.directory, "where they go")
      ->required()
      ->type_name("DIR")
      ->check(not_empty);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return program.exit(e);  // --help, --version
    if (program.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
      throw usage_error("no command is called '" + std::string(argv[1]) + "'; there are list, bench, check and report");
    throw usage_error(e.what());
  }
  if (program.got_subcommand("list")) return list(for_list);
  if (program.got_subcommand("bench")) {
    for_bench.repeat = parse(whole_setting("repeat", "", 1, 100'000, ""), repeat).whole;
    for_bench.command = command_line(std::vector<std::string>(argv, argv + argc));
    return bench(for_bench);
  }
  if (program.got_subcommand("check")) {
    numbers.into(for_check);
    return check(for_check);
  }
  if (program.got_subcommand("report")) return report(for_report);
  throw usage_error("a command is missing: list, bench, check or report; gputm --help says more");
}

}  // namespace
}  // namespace gputm::cli

int main(int argc, char** argv) {
  using namespace gputm::cli;
  // a closed one's number would be the next file's; to read is enough to keep it, and who writes there finds out
  for (int standard = 0; standard <= 2; ++standard)
    if (fcntl(standard, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1) return refused;
  try {
    const int how = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw usage_error("standard output could not be written to the end");
    return how;
  } catch (const gputm::no_progress& e) {
    complain(e.what());
    return broken;
  } catch (const gputm::schedule_failed& e) {
    complain(e.what());
    return broken;
  } catch (const std::bad_alloc&) {
    complain(out_of_host_memory);
    return refused;
  } catch (const std::exception& e) {
    complain(e.what());
    return refused;
  }
}
