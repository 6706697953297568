// `sorrel stack JOB [RANK]`: where the ranks of a running job are.

#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "report/wait_groups.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/view/job_page.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* stack_usage = "sorrel stack [--json] JOB [RANK]";
constexpr const char* stack_description =
    "Shows where the ranks of a running job are, or one rank: the calls in\n"
    "progress, also of ranks that wait. Ranks with the same calls are shown\n"
    "together, the fewest first. JOB is a number that `sorrel ps` prints.\n";
constexpr const char* stack_footer =
    "Examples:\n"
    "  sorrel stack 4711\n"
    "  sorrel stack 4711 12\n\n"
    "Exit status: 0; 1 if the job has ended or cannot be looked into; 2 if\n"
    "the command line is wrong.";

struct StackGroup {
  std::vector<std::int32_t> ranks;
  report::CallStack calls;
};

/// The fewest ranks first. `rank`: only its group, with this rank alone.
std::vector<StackGroup> groups_of(const report::ProcessView& view,
                                  std::optional<std::int32_t> rank) {
  std::vector<StackGroup> groups;
  for (const auto& [calls, runs] : view.stacks) {
    StackGroup group{.ranks = {}, .calls = calls};
    for (const report::RankRun& run : runs) {
      for (std::int32_t one = run.first; one <= run.last; ++one) {
        if (!rank || *rank == one) group.ranks.push_back(one);
      }
    }
    if (!group.ranks.empty()) groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, {}, [](const StackGroup& group) {
    return std::pair(group.ranks.size(), group.ranks.front());
  });
  return groups;
}

void print(const std::vector<StackGroup>& groups) {
  constexpr std::size_t run_count_max = 12;
  for (const StackGroup& group : groups) {
    fmt::print("{} {}\n", group.ranks.size() == 1 ? "rank" : "ranks",
               report::text_of_ranks(group.ranks, run_count_max));
    for (std::size_t i = 0; i < group.calls.size(); ++i)
      fmt::print("  #{} {}\n", i, printable(group.calls[i]));
  }
}

Json json_of(const JobView& now, const std::vector<StackGroup>& groups) {
  Json stacks = Json::array();
  for (const StackGroup& group : groups)
    stacks.push_back({{"ranks", group.ranks}, {"calls", group.calls}});
  return {{"ranks", now.view.rank_count}, {"stacks", stacks}, {"notes", now.notes}};
}

int show(const RunningJob& job, std::optional<std::int32_t> rank, bool as_json) {
  const Result<JobView> seen = look_into(job, report::ViewKind::stacks);
  if (!seen.has_value()) {
    print_diagnostic(seen.error());
    return 1;
  }
  const JobView& now = seen.value();
  const std::int32_t rank_count = now.view.rank_count;
  if (rank && rank_count > 0 && *rank >= rank_count) {
    return report_error("the job has the ranks 0 to {}, and no rank {}", rank_count - 1, *rank);
  }
  for (const std::string& note : now.notes)
    print_diagnostic("note: " + note);
  const std::vector<StackGroup> groups = groups_of(now.view, rank);
  if (as_json) {
    fmt::print("{}\n", text_of(json_of(now, groups)));
  } else {
    print(groups);
  }
  if (now.view.is_cut) print_diagnostic("note: some ranks are left out: too many different stacks");
  if (!groups.empty()) return 0;
  if (now.notes.empty()) print_diagnostic("no rank of the job runs now");
  return 1;
}

}  // namespace

int stack_command(Arguments arguments) {
  bool as_json = false;
  const auto app = make_app(stack_usage, stack_description, stack_footer);
  app->add_flag("--json", as_json, "Print JSON");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.empty() || split.program.size() > 2)
    return report_error("stack takes a job, and a rank or none; usage: {}", stack_usage);
  std::optional<std::int32_t> rank;
  if (split.program.size() == 2) {
    const auto number = parse_count(split.program[1]);
    if (!number || *number > INT32_MAX)
      return report_error("a rank must be a whole number, not '{}'", split.program[1]);
    rank = static_cast<std::int32_t>(*number);
  }
  const Result<RunningJob> job = find_job(split.program.front());
  if (!job.has_value()) {
    print_diagnostic(job.error());
    return 1;
  }
  return show(job.value(), rank, as_json);
}

}  // namespace sorrel::tool
