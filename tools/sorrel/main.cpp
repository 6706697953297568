// The `sorrel` command: selects the subcommand. Also runs as mpicc, mpicxx, mpiexec and similar
// names, by symbolic link.

#include <algorithm>
#include <csignal>
#include <fmt/core.h>
#include <mpi.h>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "os/standard_descriptors.hpp"
#include "os/thread_limits.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/version.hpp"
#include "tools/sorrel/inspect/wrapper.hpp"

namespace sorrel::tool {

namespace {

constexpr Command commands[] = {
    {"demo", "show in 20 seconds what Sorrel is for", demo_command},
    {"try", "find the best way to run your program, by running it", try_command},
    {"run", "run an MPI program with many ranks in one process", run_command},
    {"restart", "go on with a job from its last checkpoint", restart_command},
    {"info", "show this machine, or whether and how a program can run", info_command},
    {"cc", "compile and link a C program (the same as mpicc)", cc_command},
    {"cxx", "compile and link a C++ program (the same as mpicxx)", cxx_command},
    {"fc", "compile and link a Fortran program (the same as mpifort)", fc_command},
    {"test", "test an MPI program for CI: many ranks, slow network, checks", test_command},
    {"plan", "choose how to cut a regular grid over ranks, and say why", plan_command},
    {"trace", "make a trace of what a job that was killed has left behind", trace_command},
    {"report", "say why a job took as long as it did, from its trace", report_command},
    {"ps", "list your jobs", ps_command},
    {"top", "show what the workers and ranks of a running job do", top_command},
    {"stack", "show where the ranks of a running job are", stack_command},
    {"bench", "compare with the other MPIs of this machine", bench_command},
    {"selftest", "check this installation", selftest_command},
    {"env", "print what a shell needs to use this installation", env_command},
    {"docs", "show a page of the manual", docs_command},
};

/// Not for users.
constexpr Command internal_commands[] = {
    {"preflight", "", preflight_command},
    {"complete", "", complete_command},
};

/// Names under which this command can be started by a symbolic link.
constexpr Command aliases[] = {
    {"mpiexec", "", mpiexec_command}, {"mpirun", "", mpiexec_command}, {"mpicc", "", cc_command},
    {"mpicxx", "", cxx_command},      {"mpic++", "", cxx_command},     {"mpiCC", "", cxx_command},
    {"mpifort", "", fc_command},      {"mpif90", "", fc_command},      {"mpif77", "", fc_command},
    {"mpif95", "", fc_command},
};

const Command* find(std::span<const Command> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return name == command.name; });
  return found == table.end() ? nullptr : &*found;
}

void print_help() {
  fmt::print(
      "Sorrel runs MPI programs with many more ranks than cores. Each rank is a\n"
      "user-level thread.\n\n"
      "Usage: sorrel COMMAND [options]\n\nCommands:\n");
  for (const Command& command : commands)
    fmt::print("  {:<10}{}\n", command.name, command.summary);
  fmt::print(
      "\nOptions:\n"
      "  --help      print this; for details: `sorrel help COMMAND`\n"
      "  --version   print the version; also `sorrel version`\n"
      "  --prefix    print the folder of this installation\n\n"
      "Examples:\n"
      "  sorrel cc -O2 hello.c -o hello\n"
      "  sorrel run -n 64 ./hello\n"
      "  sorrel info ./hello\n");
}

int unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    names.emplace_back(command.name);
  const std::string near = near_match(word, names);
  if (!near.empty()) return report_error("unknown command {}; did you mean {}?", word, near);
  if (word.find('/') != std::string::npos)
    return report_error("unknown command {}; did you mean `sorrel run {}`?", word, word);
  return report_error("unknown command '{}'; see `sorrel --help`", word);
}

/// `sorrel help`, `sorrel help COMMAND`.
int help(Arguments names) {
  if (names.empty()) {
    print_help();
    return 0;
  }
  if (names.size() > 1)
    return report_error("help takes one command; '{}' is a second one", names[1]);
  const Command* command = find(commands, names[0]);
  if (command == nullptr) return unknown_command(names[0]);
  std::string option = "--help";
  char* const words[] = {option.data(), nullptr};
  return command->run(Arguments(words, 1));
}

int dispatch(std::span<char* const> arguments) {
  const std::string_view path = arguments.empty() ? "sorrel" : arguments[0];
  const Command* alias = find(aliases, path.substr(path.rfind('/') + 1));
  if (alias != nullptr) return alias->run(arguments.subspan(1));
  if (arguments.size() < 2) {
    print_help();
    return 0;
  }
  const std::string word = arguments[1];
  if (word == "--help" || word == "-h" || word == "help") return help(arguments.subspan(2));
  if (word == "--version" || word == "-V" || word == "version") {
    if (arguments.size() > 2)
      return report_error("{} takes no arguments; '{}' is one", word, arguments[2]);
    fmt::print("sorrel {} (MPI {}.{}, ABI {}.{})\n", version_text(), MPI_VERSION, MPI_SUBVERSION,
               MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return 0;
  }
  if (word == "--prefix") {
    fmt::print("{}\n", find_installation().prefix());
    return 0;
  }
  if (const Command* command = find(commands, word); command != nullptr)
    return command->run(arguments.subspan(2));
  // `sorrel mpicc` is what scripts of that name call where there are no symbolic links.
  for (const auto table :
       {std::span<const Command>(internal_commands), std::span<const Command>(aliases)}) {
    if (const Command* command = find(table, word); command != nullptr)
      return command->run(arguments.subspan(2));
  }
  return unknown_command(word);
}

/// Raises the stack limit if it is too low for this command and for the library, whose first worker
/// runs on the program's first stack; prints an error if that is not allowed. Not inlined: the
/// stack is small.
[[gnu::noinline]] bool has_room_for_stack() {
  constexpr rlim_t least = rlim_t{256} << 10;
  constexpr rlim_t usual = rlim_t{8} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return true;
  const rlimit raised{.rlim_cur = std::min(std::max(limit.rlim_max, least), usual),
                      .rlim_max = std::max(limit.rlim_max, least)};
  if (setrlimit(RLIMIT_STACK, &raised) == 0) {
    // The C library has already read the old limit, for threads.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, raised.rlim_cur);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return true;
  }
  static constexpr char text[] = "sorrel: the stack limit (ulimit -s) must be at least 256 KiB\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  return false;
}

/// A process that is started with SIGCHLD ignored, as by some daemons, would not learn how its
/// children end, nor be woken: the system removes them.
void await_children() {
  struct sigaction action{};
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
    signal(SIGCHLD, SIG_DFL);
}

}  // namespace

int start(int argument_count, char** arguments) {
  os::reserve_standard_descriptors();
  await_children();
  if (!has_room_for_stack()) return exit_invalid_input;
  return dispatch({arguments, static_cast<std::size_t>(argument_count)});
}

}  // namespace sorrel::tool

int main(int argument_count, char** arguments) {
  using namespace sorrel;
  try {
    return tool::start(argument_count, arguments);
  } catch (const std::system_error& error) {
    // From a thread of this command.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    tool::print_diagnostic("cannot create a thread: the system's limit is reached (" +
                           os::describe_thread_limits() + ")");
    return exit_cannot_execute;
  }
}
