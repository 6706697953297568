// `sorrel try`: runs the user's program in several ways, and says which is best.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/machine/other_mpi.hpp"
#include "tools/sorrel/machine/other_work.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"
#include "tools/sorrel/run/children.hpp"
#include "tools/sorrel/run/openmp.hpp"
#include "tools/sorrel/try/trial_session.hpp"
#include "tools/sorrel/try/trial_setups.hpp"
#include "tools/sorrel/try/trial_table.hpp"

namespace sorrel::tool {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* try_usage = "sorrel try [options] PROGRAM [arguments]";
constexpr const char* try_description =
    "Runs PROGRAM in turn with 1, 2, 4, 8 and 16 ranks a core, with several\n"
    "processes, with --balance and --omp, and with the other MPIs of this\n"
    "machine that can run it, until it is sure which is best. Prints a table\n"
    "and one sentence: what to use and how much it gains, or that Sorrel does\n"
    "not help. Times are those of the whole command, from start to end.\n\n"
    "Only commands that print the same results are compared. Lines may come\n"
    "in any order. Numbers are no results if a word or a unit beside them\n"
    "names a time or a speed, or if they differ between two runs of one\n"
    "command (docs/try.md). A file as standard input is read by every run.\n";
constexpr const char* try_footer =
    "Examples:\n"
    "  sorrel try ./heat 1000 1000\n"
    "  sorrel try --budget 300 --ranks 8,27,64 ./lulesh -s 20\n"
    "  sorrel try --markdown heat.md --json heat.json ./heat\n"
    "  sorrel try --ignore '^Step' python3 heat.py\n\n"
    "Exit status: 0; 1 if no run with Sorrel succeeded; 2 if the command\n"
    "line or the program is wrong.";
constexpr double budget_most_s = 86400;
constexpr std::uint64_t ranks_most = 1'000'000;
constexpr std::uint64_t runs_most = 1000;

struct TryOptions {
  std::string ranks;
  double budget_s = 60;
  std::string runs = "50";
  double tolerance = 1e-5;
  std::vector<std::string> ignored;
  bool takes_any_output = false;
  bool only_lists = false;
  std::string markdown;
  std::string csv;
  std::string json;

  /// Whether a table goes to standard output in place of that for a terminal.
  [[nodiscard]] bool writes_output() const { return markdown == "-" || csv == "-" || json == "-"; }
};

std::unique_ptr<CLI::App> make_try_app(TryOptions& options) {
  auto app = make_app(try_usage, try_description, try_footer);
  app->add_option("--ranks", options.ranks,
                  "Numbers of ranks, such as 8,27,64 (default: 1, 2, 4, 8 and 16 a core)")
      ->type_name("N,N");
  app->add_option("--budget", options.budget_s,
                  "Seconds for all runs, after which it says what it knows (60)")
      ->type_name("S");
  app->add_option("--runs", options.runs, "Runs of one command at most (50)")->type_name("N");
  app->add_option("--ignore", options.ignored,
                  "Lines of the output that contain a match of this regular expression are not "
                  "compared. May be repeated")
      ->type_name("REGEX")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--tolerance", options.tolerance,
                  "Relative difference up to which numbers with a decimal point agree (1e-5)")
      ->type_name("X");
  app->add_flag("--any-output", options.takes_any_output,
                "Compare the times of commands that print different results, too");
  app->add_option("--markdown", options.markdown, "Write the table into FILE, - is the output")
      ->type_name("FILE");
  app->add_option("--csv", options.csv, "The same, a line for each command")->type_name("FILE");
  app->add_option("--json", options.json, "The same, with the time of each run")->type_name("FILE");
  app->add_flag("--list", options.only_lists, "Print the commands, and run none");
  return app;
}

/// Returns an error, or "".
std::string read_rank_counts(const std::string& text, std::vector<std::uint64_t>& counts) {
  for (const std::string& word : os::split_path(text, ',')) {
    const auto count = parse_count(word);
    if (!count || *count < 1 || *count > ranks_most)
      return fmt::format("--ranks must be numbers from 1 to {} such as 8,27,64, not '{}'",
                         ranks_most, text);
    counts.push_back(*count);
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts.empty() ? "--ranks needs at least one number" : "";
}

/// Returns an error, or "".
std::string read_session_options(const TryOptions& options, SessionOptions& session) {
  if (!(options.budget_s >= 1 && options.budget_s <= budget_most_s))
    return fmt::format("--budget must be from 1 to {} seconds, not {}", budget_most_s,
                       options.budget_s);
  const auto runs = parse_count(options.runs);
  if (!runs || *runs < 3 || *runs > runs_most)
    return fmt::format("--runs must be a whole number from 3 to {}, not '{}'", runs_most,
                       options.runs);
  if (!(options.tolerance >= 0 && options.tolerance < 1))
    return fmt::format("--tolerance must be at least 0 and less than 1, not {}", options.tolerance);
  session.budget_s = options.budget_s;
  session.runs_max = *runs;
  session.compares_output = !options.takes_any_output;
  session.match.tolerance = options.tolerance;
  for (const std::string& pattern : options.ignored) {
    try {
      session.match.ignored.emplace_back(pattern, std::regex::extended);
    } catch (const std::regex_error&) {
      return fmt::format("--ignore must be an extended regular expression, not '{}'", pattern);
    }
  }
  return "";
}

/// The first line of what a program has printed about its failure.
std::string reason_of(const ChildCommand& child) {
  std::string line;
  for (const std::string* text : {&child.errors(), &child.output()}) {
    const std::size_t begin = text->find_first_not_of("\n \t");
    if (begin == std::string::npos) continue;
    line = text->substr(begin, text->find('\n', begin) - begin);
    break;
  }
  return line.empty() ? child.text_of_end()
                      : fmt::format("{}: {}", child.text_of_end(), printable(line).substr(0, 100));
}

/// Runs one command. `input`: standard input, a file; or -1.
RunOutcome run_once(const TrialSetup& setup, double limit_s, int input) {
  if (input >= 0) (void)lseek(input, 0, SEEK_SET);
  const OtherWork other_work;
  ChildCommand child(setup.command, {.environment = setup.environment, .input = input});
  const auto limit = std::chrono::milliseconds(std::llround(std::ceil(limit_s * 1e3)));
  RunOutcome outcome;
  outcome.is_late = !child.run_to_end(limit);
  // What a launcher has left behind would disturb the next run.
  end_children();
  outcome.other_work = other_work.share();
  outcome.seconds = child.seconds();
  if (!outcome.is_late && !child.has_succeeded()) outcome.failure = reason_of(child);
  outcome.output = child.output();
  return outcome;
}

/// Standard input, if it is a file that each run can read from its begin; else -1.
int repeatable_input() {
  struct stat status{};
  return fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) ? STDIN_FILENO : -1;
}

/// One line on a terminal, which the next one overwrites; "" removes it.
void show_progress(const std::string& line) {
  static const bool is_shown = isatty(STDERR_FILENO) == 1;
  if (!is_shown) return;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

std::string machine_text(std::uint64_t cores) {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  return fmt::format("{}, {} core{}", printable(name), cores, cores == 1 ? "" : "s");
}

void print_list(const TrialSubject& subject) {
  SORREL_ASSERT(!subject.rank_counts.empty(), "trials without a number of ranks");
  for (const TrialSetup& setup : first_setups(subject))
    fmt::print("{}\n", setup.label);
  fmt::print("\nthen, with the best number of ranks in the place of {}:\n",
             subject.rank_counts.front());
  for (const TrialSetup& setup : further_setups(subject, subject.rank_counts.front()))
    fmt::print("{}\n", setup.label);
}

/// Writes the tables that are wanted; false: one could not be written.
bool write_tables(const TryOptions& options,
                  const TrialSummary& summary,
                  std::span<const Trial> trials) {
  if (!options.writes_output())
    fmt::print("{}", terminal_table(summary, trials, has_colours(STDOUT_FILENO)));
  // In one line, so that the command in it can be copied.
  fmt::print(options.writes_output() ? stderr : stdout, "{}\n", summary.sentence);
  bool is_written = true;
  if (!options.markdown.empty())
    is_written &= write_output_file(options.markdown, markdown_table(summary, trials));
  if (!options.csv.empty())
    is_written &= write_output_file(options.csv, csv_table(summary, trials));
  if (!options.json.empty())
    is_written &= write_output_file(options.json, json_table(summary, trials));
  return is_written;
}

int try_program(const TrialSubject& subject,
                const TryOptions& options,
                const SessionOptions& session_options) {
  adopt_left_children();
  const int input = repeatable_input();
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::size_t run_count = 0;
  TrialSession session(
      session_options,
      [&](const TrialSetup& setup, double limit_s) {
        show_progress(fmt::format("run {}, {:.0f} of {:.0f} s: {}", ++run_count, elapsed(),
                                  session_options.budget_s, setup.label));
        return run_once(setup, limit_s, input);
      },
      elapsed);
  session.scout(first_setups(subject));
  TrialSummary summary;
  if (const Verdict first = verdict_of(session.trials()); first.best != Verdict::none)
    session.scout(further_setups(subject, session.trials()[first.best].setup.ranks));
  summary.is_sure = session.refine();
  show_progress("");
  summary.program = subject.program;
  summary.cores = subject.cores;
  summary.machine = machine_text(subject.cores);
  summary.run_count = session.run_count();
  summary.elapsed_s = elapsed();
  summary.verdict = verdict_of(session.trials());
  summary.sentence =
      sentence_of(summary.verdict, session.trials(), summary.is_sure, summary.elapsed_s);
  summary.warnings = warnings_on(session.trials(), session.unsteady_count());
  const bool is_written = write_tables(options, summary, session.trials());
  if (!is_written) return exit_invalid_input;
  return summary.verdict.kind == Verdict::Kind::cannot_compare ? 1 : 0;
}

}  // namespace

int try_command(Arguments arguments) {
  TryOptions options;
  const auto app = make_try_app(options);
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.empty()) return report_error("no program. usage: {}", try_usage);
  SessionOptions session_options;
  if (const std::string error = read_session_options(options, session_options); !error.empty())
    return report_error("{}", error);

  TrialSubject subject;
  subject.cores = static_cast<std::uint64_t>(default_workers(read_machine_limits()));
  subject.rank_counts = usual_rank_counts(subject.cores);
  if (!options.ranks.empty()) {
    subject.rank_counts.clear();
    if (const std::string error = read_rank_counts(options.ranks, subject.rank_counts);
        !error.empty())
      return report_error("{}", error);
  }
  const Installation installation = find_installation();
  const ProgramReport program = inspect_program(split.program.front(), installation);
  if (!program.refusal.empty()) return report_error("{}", program.refusal);
  if (!program.is_mpi_program() && program.translated_mpi.empty() && !program.starts_programs &&
      program.wrapper.empty() && !program.may_be_ranks)
    return report_error("{} does not use MPI: try compares runs of MPI programs",
                        split.program.front());
  subject.sorrel = installation.executable;
  subject.program.assign(split.program.begin(), split.program.end());
  subject.is_standard = program.uses_mpi && program.translated_mpi.empty();
  subject.is_python = program.is_python;
  subject.uses_openmp = inspect_openmp(split.program.front(), installation).uses_openmp;
  subject.mpis = mpis_for(program, find_other_mpis(std::getenv, installation));
  if (options.only_lists) {
    print_list(subject);
    return 0;
  }
  return try_program(subject, options, session_options);
}

}  // namespace sorrel::tool
