// `sorrel test`: what a CI system does with an MPI program, as one command.

#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/interruptible_work.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/test/test_plan.hpp"
#include "tools/sorrel/test/test_report.hpp"
#include "tools/sorrel/test/test_run.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* test_usage = "sorrel test [options] PROGRAM [ARGS…]";
constexpr const char* test_description =
    "Tests an MPI program as a CI system does: with many ranks, over a slow\n"
    "network, for errors in calls of MPI, and in many orders of messages.\n"
    "Each is a run of the program by `sorrel run`, without input. What a\n"
    "failed run has printed is shown, with the command that repeats it.\n";
constexpr const char* test_footer =
    "Runs, in this order, with the names that --only takes:\n"
    "  ranks               each number of ranks of -n\n"
    "  network             the largest of them on the simulated network\n"
    "  check               few ranks, with `sorrel run --check`\n"
    "  schedules           few ranks, in N orders of messages, checked\n\n"
    "Examples:\n"
    "  sorrel test ./heat small.input\n"
    "  sorrel test -n 1,27,1000 --few 8 ./lulesh -s 4\n"
    "  sorrel test --junit junit.xml --sarif mpi.sarif ./heat small.input\n"
    "  sorrel test --with --stack=16M --only ranks,network ./solver\n\n"
    "Exit status: 0 if all runs have passed; 66 if none has failed and a\n"
    "check has found something; 1 if a run has failed (another exit status\n"
    "than 0, a deadlock, a crash, the time limit) or a file cannot be\n"
    "written; 2 if the command line is wrong and nothing was started.";

std::unique_ptr<CLI::App> make_test_app(TestOptions& options) {
  auto app = make_app(test_usage, test_description, test_footer);
  app->add_option("-n,--ranks", options.ranks, "Numbers of ranks, one run for each (default: 1000)")
      ->type_name("N[,N…]");
  app->add_option("--few", options.few,
                  "Number of ranks in checks and schedules (default: 8, or the largest of -n if "
                  "that is less)")
      ->type_name("N");
  app->add_option("--wire", options.wire,
                  "The slow network, as of `sorrel run` (default: "
                  "latency=1ms,bandwidth=1GB/s,nodes=4)")
      ->type_name("WIRE");
  app->add_option("--schedules", options.schedules,
                  "Number of orders of messages, 1 to 1000000 (default: 20)")
      ->type_name("N");
  app->add_option("--timeout", options.time_limit,
                  "Limit of each run, such as 30s or 10min (default: 5min). A run that has not "
                  "ended then prints what its ranks do, and is killed")
      ->type_name("TIME");
  app->add_option("--only", options.only, "Some of the runs (default: all)")
      ->type_name("RUN[,RUN…]");
  app->add_option("--with", options.run_options,
                  "An option of `sorrel run` for every run, such as --with --stack=16M. May be "
                  "repeated")
      ->type_name("OPTION")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--junit", options.junit,
                  "Write the results into FILE as JUnit XML: a test case for each run and each "
                  "finding")
      ->type_name("FILE");
  app->add_option("--sarif", options.sarif,
                  "Write findings, and places of deadlocks and crashes, into FILE as SARIF 2.1.0")
      ->type_name("FILE");
  return app;
}

/// Whether there is such a program; prints the error.
bool is_program(const std::string& name) {
  const std::string path = find_program(name);
  std::string error =
      path.empty() ? fmt::format("{}: no such program", name) : program_file_error(name, path);
  if (error.empty()) error = executable_error(name, path);
  if (!error.empty()) print_diagnostic(error);
  return error.empty();
}

int perform_all(const TestPlan& plan, const TestSubject& subject, const TestOptions& options) {
  std::vector<TestResult> results;
  for (const TestRun& run : plan.runs) {
    results.push_back({run, perform(run, subject)});
    fmt::print("{}", text_of(results.back()));
    std::fflush(stdout);
  }
  fmt::print("sorrel: test: {}\n", summary_of(results));
  const bool is_written = write_files(results, options, subject.program.front());
  return is_written ? status_of(results) : 1;
}

}  // namespace

int test_command(Arguments arguments) {
  TestOptions options;
  const auto app = make_test_app(options);
  const SplitArguments given = split_arguments(*app, arguments);
  if (!given.error.empty()) return report_error("{}", given.error);
  if (const auto status = parse_options(*app, given.options)) return *status;
  if (given.program.empty()) return report_error("no program given; usage: {}", test_usage);
  Result<TestPlan> plan = plan_tests(options);
  if (!plan.has_value()) return report_error("{}", plan.error());
  if (!is_program(given.program.front())) return exit_invalid_input;
  Result<std::string> folder = make_temporary_folder("test", "test");
  if (!folder.has_value()) return report_error("{}", folder.error());
  const TestSubject subject{.command = find_installation().executable,
                            .program = {given.program.begin(), given.program.end()},
                            .folder = *folder,
                            .limit = plan->time_limit};
  const auto clean = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(*folder, ignored);
  };
  const int status = run_interruptibly([&] { return perform_all(*plan, subject, options); }, clean);
  clean();
  return status;
}

}  // namespace sorrel::tool
