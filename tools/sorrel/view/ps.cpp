// `sorrel ps`: the jobs of this user.

#include <fmt/core.h>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "report/memory_rows.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/view/job_page.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* ps_usage = "sorrel ps [--json]";
constexpr const char* ps_description =
    "Lists your jobs on this machine: those that `sorrel run` has started and\n"
    "that have not ended. Nothing in them is interrupted.\n";
constexpr const char* ps_footer =
    "Examples:\n"
    "  sorrel ps\n"
    "  sorrel ps --json\n\n"
    "Exit status: 0, also without jobs; 2 if the command line is wrong.";

void print(const std::vector<RunningJob>& jobs) {
  fmt::print("{:>8} {:>6} {:>6} {:>8} {:>11} {:>11} {:>9}  {}\n", "JOB", "RANKS", "PROCS",
             "WORKERS", "TIME", "CPU", "MEMORY", "COMMAND");
  for (const RunningJob& job : jobs) {
    const Json json = json_of(job);
    std::size_t workers = 0;
    for (const JobProcess& process : job.processes)
      workers += process.spec.worker_count;
    const std::int32_t ranks = job.rank_count();
    fmt::print("{:>8} {:>6} {:>6} {:>8} {:>11} {:>11} {:>9}  {}\n", job.pid,
               ranks == 0 ? "-" : fmt::format("{}", ranks), job.processes.size(), workers,
               text_of_duration(json["seconds"].get<double>()),
               text_of_duration(json["cpu_seconds"].get<double>()),
               report::text_of_bytes(json["resident_bytes"].get<std::uint64_t>()).text(),
               printable(job.command));
  }
}

}  // namespace

int ps_command(Arguments arguments) {
  bool as_json = false;
  const auto app = make_app(ps_usage, ps_description, ps_footer);
  app->add_flag("--json", as_json, "Print JSON");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (!split.program.empty())
    return report_error("ps takes no argument; '{}' is one", split.program.front());
  const std::vector<RunningJob> jobs = running_jobs();
  if (!as_json) {
    print(jobs);
    return 0;
  }
  Json json = Json::array();
  for (const RunningJob& job : jobs)
    json.push_back(json_of(job));
  fmt::print("{}\n", text_of(json));
  return 0;
}

}  // namespace sorrel::tool
