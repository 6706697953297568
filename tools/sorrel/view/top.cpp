// `sorrel top`: what the workers and ranks of running jobs do.

#include <fmt/core.h>
#include <string>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/view/job_page.hpp"
#include "tools/sorrel/view/top_screen.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* top_usage = "sorrel top [options] [JOB]";
constexpr const char* top_description =
    "Shows what the workers and ranks of a running job do; without JOB, of\n"
    "all your jobs. JOB is a number that `sorrel ps` prints. The job goes on.\n\n"
    "Refreshes until the key q is pressed. Other keys: s changes the order of\n"
    "the ranks, n and p show the next and the previous job, arrows and pages\n"
    "scroll, the space bar looks at once.\n";
constexpr const char* top_footer =
    "Examples:\n"
    "  sorrel top\n"
    "  sorrel top --once --interval 2 4711\n"
    "  sorrel top --once --json 4711\n\n"
    "Exit status: 0; 1 if a job has ended or cannot be looked into; 2 if the\n"
    "command line is wrong.";

/// Prints the state of jobs; returns the exit status.
class Snapshot {
 public:
  Snapshot(double interval_seconds, bool as_json)
      : interval_ns_(static_cast<std::int64_t>(interval_seconds * 1e9)), as_json_(as_json) {}

  int print(const std::vector<RunningJob>& jobs) {
    Json all = Json::array();
    for (const RunningJob& job : jobs) {
      if (!as_json_ && &job != &jobs.front()) fmt::print("\n");
      print(job, all);
    }
    if (as_json_) fmt::print("{}\n", text_of(all));
    return status_;
  }

 private:
  void print(const RunningJob& job, Json& all) {
    const Result<JobView> before = look_into(job, report::ViewKind::activity);
    if (before.has_value()) os::sleep_ns(interval_ns_);
    const Result<JobView> now = before.has_value() ? look_into(job, report::ViewKind::activity)
                                                   : Result<JobView>(Error{before.error()});
    if (!now.has_value()) {
      print_diagnostic(now.error());
      status_ = 1;
      return;
    }
    if (now.value().is_empty() && !now.value().notes.empty()) status_ = 1;
    if (as_json_) {
      all.push_back(json_of(job, before.value(), now.value()));
      return;
    }
    for (const std::string& line : page_of(job, before.value(), now.value(), {}))
      fmt::print("{}\n", line);
  }

  const std::int64_t interval_ns_;
  const bool as_json_;
  int status_ = 0;
};

}  // namespace

int top_command(Arguments arguments) {
  bool is_once = false;
  bool as_json = false;
  double interval_seconds = 1;
  const auto app = make_app(top_usage, top_description, top_footer);
  app->add_flag("--once", is_once, "Print the state once, and end");
  app->add_flag("--json", as_json, "The same as JSON");
  app->add_option("--interval", interval_seconds,
                  "Seconds between two looks, whose difference is the load\n"
                  "of the workers (1)")
      ->type_name("S");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.size() > 1)
    return report_error("top takes one job; '{}' is a second one", split.program[1]);
  if (!(interval_seconds >= 0.1 && interval_seconds <= 3600))
    return report_error("--interval must be from 0.1 to 3600, not {}", interval_seconds);
  if (!is_once && !as_json) {
    if (!has_top_screen())
      return report_error("this sorrel was built without ncurses: top needs --once");
    return run_top_screen({.interval_seconds = interval_seconds,
                           .job = split.program.empty() ? "" : split.program.front()});
  }
  std::vector<RunningJob> jobs;
  if (split.program.empty()) {
    jobs = running_jobs();
  } else {
    Result<RunningJob> job = find_job(split.program.front());
    if (!job.has_value()) {
      print_diagnostic(job.error());
      return 1;
    }
    jobs.push_back(std::move(job).value());
  }
  if (jobs.empty() && !as_json) fmt::print("no jobs\n");
  return Snapshot(interval_seconds, as_json).print(jobs);
}

}  // namespace sorrel::tool
