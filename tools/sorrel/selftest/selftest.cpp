// `sorrel selftest`: checks the installation that this command belongs to.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/version.hpp"
#include "tools/sorrel/selftest/check.hpp"

namespace sorrel::tool {

namespace {

namespace files = std::filesystem;
using Clock = std::chrono::steady_clock;
using Verdict = CheckOutcome::Verdict;

constexpr const char* selftest_usage = "sorrel selftest [--verbose]";
constexpr const char* selftest_description =
    "Checks this installation in about ten seconds: its files, ranks in one\n"
    "process and in several, reports of deadlocks and crashes, and the\n"
    "compilers that are installed. Checks that lack a compiler are skipped.\n";
constexpr const char* selftest_footer =
    "Examples:\n"
    "  sorrel selftest\n"
    "  sorrel selftest --verbose\n\n"
    "Exit status: 0 if no check has failed; 1 if one has; 2 if the command\n"
    "line is wrong.";

/// Limit for each command of a check: far more than it takes on a busy machine.
constexpr std::chrono::seconds time_limit{60};
constexpr std::size_t lines_shown = 12;

/// Where the parts of the installation are.
struct Parts {
  Installation installation;
  std::string program;  ///< the compiled tools/selftest/ranks.c
  std::string sources;  ///< the folder of tools/selftest

  /// Else it has the component `runtime` only.
  [[nodiscard]] bool can_compile() const { return !installation.include_dir.empty(); }
};

Parts find_parts() {
  Installation installation = find_installation();
  std::string program = installation.prefix() + "/libexec/sorrel/selftest_ranks";
  std::string sources = data_folder(installation, "selftest", "tools/selftest");
  return {std::move(installation), std::move(program), std::move(sources)};
}

/// The files of this kind of installation that are not there.
std::vector<std::string> missing_files(const Parts& parts) {
  const Installation& installation = parts.installation;
  if (installation.library_dir.empty()) return {library_name};
  std::vector<std::string> files = {
      installation.early_library(), installation.trace_library(),
      installation.library_dir + "/omp/libgomp.so.1", parts.program,
      data_folder(installation, "machines", "machines") + "/sp2.json"};
  if (parts.can_compile()) {
    for (const char* name : {"libmpi_abi.so", "libsorrel.so", "libsorrel_grid.a",
                             "libsorrel_graph.a", "libsorrel_fortran.a", "fortran/mpif.h"})
      files.push_back(installation.library_dir + "/" + name);
    for (const char* name : {"sorrel.h", "sorrel/parallel.hpp"})
      files.push_back(installation.include_dir + "/" + name);
    files.push_back(parts.sources + "/ranks.c");
  }
  std::erase_if(files, [](const std::string& file) { return access(file.c_str(), R_OK) == 0; });
  return files;
}

std::vector<Check> checks_of_programs(const Parts& parts) {
  const std::string& sorrel = parts.installation.executable;
  const std::string& program = parts.program;
  const std::string version = std::string("Sorrel ") + SORREL_VERSION;
  return {
      {.name = "1000 ranks in one process",
       .run = {sorrel, "run", "-n", "1000", program},
       .expected = {"1000 ranks, 0 wrong values", version}},
      {.name = "16 ranks in 2 processes",
       .run = {sorrel, "run", "-n", "16", "--procs", "2", program},
       .expected = {"16 ranks, 0 wrong values", version}},
      {.name = "16 ranks on 2 simulated nodes",
       .run = {sorrel, "run", "-n", "16", "--wire", "latency=20us,bandwidth=1GB/s,nodes=2",
               program},
       .expected = {"16 ranks, 0 wrong values"}},
      {.name = "report of a deadlock",
       .run = {sorrel, "run", "-n", "4", program, "deadlock"},
       .expected = {"deadlock: 4 of 4 ranks wait", "MPI_Recv"},
       .must_fail = true},
      {.name = "report of a crash",
       .run = {sorrel, "run", "-n", "4", program, "crash"},
       .expected = {"rank 1"},
       .must_fail = true},
  };
}

/// `work`: a folder for programs.
std::vector<Check> checks_of_compilers(const Parts& parts, const std::string& work) {
  const Installation& installation = parts.installation;
  const std::string& sorrel = installation.executable;
  const std::string& sources = parts.sources;
  const std::string version = std::string("Sorrel ") + SORREL_VERSION;
  return {
      {.name = "C program",
       .compile = {sorrel, "cc", sources + "/ranks.c", "-o", work + "/c"},
       .run = {sorrel, "run", "-n", "100", work + "/c"},
       .expected = {"100 ranks, 0 wrong values", version}},
      {.name = "C++ program",
       .compile = {sorrel, "cxx", "-x", "c++", sources + "/ranks.c", "-o", work + "/cxx"},
       .run = {sorrel, "run", "-n", "100", work + "/cxx"},
       .expected = {"100 ranks, 0 wrong values", version}},
      {.name = "Fortran program",
       .compile = {sorrel, "fc", sources + "/ranks.f90", "-o", work + "/fortran"},
       .run = {sorrel, "run", "-n", "100", work + "/fortran"},
       .expected = {"100 ranks, 0 wrong values"}},
      {.name = "parallel loop without MPI",
       .compile = {"c++", "-std=c++20", "-I" + installation.include_dir, sources + "/loop.cpp",
                   "-L" + installation.library_dir, "-Wl,-rpath," + installation.library_dir,
                   "-lsorrel", "-o", work + "/loop"},
       .run = {work + "/loop"},
       .expected = {"a loop, 0 wrong values"}},
      {.name = "OpenMP program",
       .compile = {"gcc", "-fopenmp", sources + "/openmp.c", "-o", work + "/openmp"},
       .run = {sorrel, "run", "--omp", work + "/openmp"},
       .expected = {"4 threads, 0 wrong values"}},
  };
}

/// The last lines of `text`, indented.
void print_output(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::size_t first = lines.size() > lines_shown ? lines.size() - lines_shown : 0;
  for (std::size_t number = first; number < lines.size(); ++number)
    fmt::print("          | {}\n", printable(lines[number]));
}

void print_row(const char* verdict, const std::string& text) {
  fmt::print("  {:<7} {}\n", verdict, printable(text));
  std::fflush(stdout);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Performs `check` and prints its row.
Verdict report(const Check& check, bool is_verbose) {
  if (is_verbose) {
    if (!check.compile.empty()) fmt::print("          {}\n", fmt::join(check.compile, " "));
    fmt::print("          {}\n", fmt::join(check.run, " "));
    std::fflush(stdout);
  }
  const Clock::time_point begin = Clock::now();
  const CheckOutcome result = perform(check, time_limit);
  switch (result.verdict) {
    case Verdict::passed:
      print_row("ok", fmt::format("{:<32}{:6.2f} s", check.name, seconds_since(begin)));
      break;
    case Verdict::skipped:
      print_row("skipped", fmt::format("{}: {}", check.name, result.reason));
      break;
    case Verdict::failed:
      print_row("FAILED", fmt::format("{}: {}", check.name, result.reason));
      print_output(fmt::format("{}", fmt::join(result.command, " ")));
      print_output(result.output);
  }
  return result.verdict;
}

/// The number of checks of each verdict.
struct Tally {
  int passed = 0;
  int skipped = 0;
  int failed = 0;

  void add(Verdict verdict) {
    ++(verdict == Verdict::passed ? passed : verdict == Verdict::skipped ? skipped : failed);
  }
};

/// Performs all checks; the programs are made in `work`, an empty folder.
Tally perform_all(const Parts& parts, const std::string& work, bool is_verbose) {
  Tally tally;
  const std::vector<std::string> missing = missing_files(parts);
  if (missing.empty())
    print_row("ok", "files");
  else
    print_row("FAILED", fmt::format("files: {} missing", fmt::join(missing, ", ")));
  tally.add(missing.empty() ? Verdict::passed : Verdict::failed);
  std::vector<Check> checks = checks_of_programs(parts);
  if (parts.can_compile()) {
    std::ranges::move(checks_of_compilers(parts, work), std::back_inserter(checks));
  } else {
    print_row("skipped", "compilers: no include/mpi/mpi.h (component development)");
    tally.add(Verdict::skipped);
  }
  for (const Check& check : checks)
    tally.add(report(check, is_verbose));
  return tally;
}

}  // namespace

int selftest_command(Arguments arguments) {
  bool is_verbose = false;
  const auto app = make_app(selftest_usage, selftest_description, selftest_footer);
  app->add_flag("--verbose", is_verbose, "Print the commands");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (!split.program.empty())
    return report_error("selftest takes no arguments, not '{}'", split.program.front());

  std::error_code error;
  std::string work = (files::temp_directory_path(error) / "sorrel-selftest.XXXXXX").string();
  if (error || mkdtemp(work.data()) == nullptr)
    return report_error("cannot make a folder for programs in $TMPDIR or /tmp: {}",
                        error ? error.message() : std::strerror(errno));
  const Parts parts = find_parts();
  fmt::print("Sorrel {} in {}\n", version_text(), printable(parts.installation.prefix()));
  const Clock::time_point begin = Clock::now();
  const Tally tally = perform_all(parts, work, is_verbose);
  files::remove_all(work, error);
  fmt::print("{} passed, {} skipped, {} failed in {:.1f} s\n", tally.passed, tally.skipped,
             tally.failed, seconds_since(begin));
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace sorrel::tool
