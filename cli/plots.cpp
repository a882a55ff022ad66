#include "plots.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace gputm::cli {
namespace {

/// Where it has been installed, or in the source tree: wherever that is two folders above the program, or where it was
/// when the program was built.
std::string script() {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  for (const char* place : {"../share/gputm/plot", "../../scripts/plot", GPUTM_PLOT}) {
    const std::filesystem::path at = program.parent_path() / place;  // an absolute one is itself
    if (std::filesystem::is_regular_file(at, unknown)) return at.string();
  }
  return "";
}
/// The exit status of a program that says nothing; 127 if it cannot be started.
int run_silently(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &silent, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&silent);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 127;
  return WEXITSTATUS(status);
}

}  // namespace

drawn draw(const std::vector<std::string>& files, const std::string& workload, const std::string& device_name,
           const std::string& figure) {
  const std::string plot = script();
  if (plot.empty()) return drawn::cannot;
  std::vector<std::string> command{"python3", plot, "--only", workload, device_name, "--output=" + figure, "--"};
  command.insert(command.end(), files.begin(), files.end());
  constexpr int no_matplotlib = 3, no_python = 127;  // the former as scripts/plot says
  const int status = run_silently(command);
  return status == 0 ? drawn::figure : status == no_matplotlib || status == no_python ? drawn::cannot : drawn::nothing;
}

}  // namespace gputm::cli
