#include "tools/sorrel/check/check_run.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "tools/sorrel/check/schedule_process.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/output_files.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t seeds_shown_max = 8;

constexpr const char* unseen_between_processes =
    "; between processes, collective calls on communicators are compared, but no messages and no "
    "one-sided operations";

Result<CheckedRun> take_run(const std::string& folder) {
  Result<CheckedRun> run = read_checked_run(folder);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!run.has_value()) print_diagnostic("the findings of the check are lost: " + run.error());
  return run;
}

/// Writes the files, and the last line.
CheckResult conclude(const CheckRequest& request,
                     std::vector<Found> findings,
                     const std::string& scope) {
  const auto error_count =
      std::ranges::count_if(findings, [](const Found& found) { return found.kind->is_error; });
  const auto warning_count = std::ssize(findings) - error_count;
  fmt::print(stderr, "sorrel: check: {} error{}, {} warning{}{}\n", error_count,
             error_count == 1 ? "" : "s", warning_count, warning_count == 1 ? "" : "s", scope);
  bool is_written =
      request.json.empty() || write_output_file(request.json, json_of(findings) + "\n");
  if (!request.sarif.empty())
    is_written =
        write_output_file(request.sarif, sarif_of(findings, "sorrel run --check") + "\n") &&
        is_written;
  const int status = !findings.empty() ? exit_findings : (is_written ? 0 : 1);
  return {.status = status, .findings = std::move(findings)};
}

/// "2 of 10 schedules, with --seed 3, 7".
std::string text_of_seeds(const std::vector<std::uint64_t>& seeds, std::uint64_t count) {
  const std::vector<std::uint64_t> shown(
      seeds.begin(),
      seeds.begin() + static_cast<std::ptrdiff_t>(std::min(seeds.size(), seeds_shown_max)));
  return fmt::format("in {} of {} schedules, with --seed {}{}", seeds.size(), count,
                     fmt::join(shown, ", "), shown.size() < seeds.size() ? ", ..." : "");
}

/// The program's own status differs between schedules: a finding, with seeds of the highest status.
void add_status_finding(std::vector<Found>& findings,
                        const std::map<int, std::vector<std::uint64_t>>& statuses) {
  if (statuses.size() < 2) return;
  std::string text = "the exit status of the program depends on the order of messages:";
  for (const auto& entry : statuses) {
    text += fmt::format("{} {} with --seed {}", &entry == &*statuses.begin() ? "" : ",",
                        entry.first, entry.second.front());
  }
  findings.push_back({.kind = &finding_kind("schedule"),
                      .call = {.call = "", .place = {}, .ranks = {}},
                      .text = text,
                      .related = {},
                      .seeds = statuses.rbegin()->second});
}

}  // namespace

Result<std::string> make_check_folder() {
  return make_temporary_folder("--check", "check");
}

CheckResult finish_check(const CheckRequest& request,
                         const std::string& folder,
                         std::uint32_t process_count) {
  Result<CheckedRun> run = take_run(folder);
  if (!run.has_value()) return {.status = 1, .findings = {}};
  std::vector<Found> findings = std::move(run).value().findings;
  fmt::print(stderr, "{}", text_of(findings));
  return conclude(request, std::move(findings), process_count > 1 ? unseen_between_processes : "");
}

CheckResult finish_host_check(const CheckRequest& request,
                              const std::string& folder,
                              std::uint32_t process,
                              std::uint32_t process_count) {
  if (process_count == 1) return finish_check(request, folder, process_count);
  Result<CheckedRun> run = take_run(folder);
  if (!run.has_value()) return {.status = 1, .findings = {}};
  std::vector<Found> findings = std::move(run).value().findings;
  CheckRequest own = request;
  if (process != 0) {
    if (findings.empty()) return {};
    const std::string ending = fmt::format(".{}", process);
    if (!own.json.empty()) own.json += ending;
    if (!own.sarif.empty()) own.sarif += ending;
  }
  fmt::print(stderr, "{}", text_of(findings));
  return conclude(own, std::move(findings),
                  fmt::format(" in process {} of {}{}", process, process_count,
                              process == 0 ? unseen_between_processes : ""));
}

namespace {

/// What the schedules of one program have shown.
struct Explored {
  std::vector<Found> findings = {};
  /// By exit status that no finding explains: the seeds of the schedules.
  std::map<int, std::vector<std::uint64_t>> statuses = {};
  std::set<std::uint64_t> outcomes = {};
  std::uint64_t count = 0;
  /// In any schedule: one without decisions says nothing about the others.
  bool may_differ = false;

  void add(const CheckedRun& checked, int status, std::uint64_t seed) {
    // An error that was found is the reason for the status.
    const bool is_explained = std::ranges::any_of(
        checked.findings, [](const Found& found) { return found.kind->is_error; });
    if (!is_explained) statuses[status].push_back(seed);
    outcomes.insert(checked.outcome);
    // A rank that has failed has not said how often it has decided.
    may_differ = may_differ || checked.has_decisions || !checked.findings.empty() || status != 0;
    for (Found found : checked.findings) {
      found.seeds = {seed};
      add_finding(findings, std::move(found));
    }
    ++count;
  }
};

}  // namespace

CheckResult explore_schedules(
    const CheckRequest& request,
    std::uint64_t count,
    const std::function<std::string(std::uint64_t seed)>& replay,
    const std::function<int(std::uint64_t seed, const std::string& folder)>& run) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds report_interval(2);
  Explored explored;
  Clock::time_point reported = Clock::now();
  while (explored.count < count && (explored.count == 0 || explored.may_differ)) {
    const std::uint64_t seed = explored.count + 1;
    const Result<std::string> folder = make_check_folder();
    if (!folder.has_value()) return {.status = report_error("{}", folder.error()), .findings = {}};
    const auto [status, end_signal] = run_schedule(
        seed > 1, [&] { return run(seed, folder.value()); },
        [&] {
          fmt::print(stderr, "sorrel: check: schedule {} of {}, --seed {}\n", seed, count, seed);
        });
    if (end_signal != 0) {
      std::error_code ignored;
      std::filesystem::remove_all(folder.value(), ignored);
      raise(end_signal);
      return {.status = 128 + end_signal, .findings = {}};
    }
    const Result<CheckedRun> checked = take_run(folder.value());
    // The job has not started, and has said why; so would the next one.
    if (!checked.has_value()) return {.status = std::max(status, 1), .findings = {}};
    explored.add(checked.value(), status, seed);
    if (Clock::now() - reported < report_interval || explored.count == count) continue;
    reported = Clock::now();
    fmt::print(stderr, "sorrel: check: schedule {} of {}, {} finding{}\n", explored.count, count,
               explored.findings.size(), explored.findings.size() == 1 ? "" : "s");
  }
  add_status_finding(explored.findings, explored.statuses);
  for (const Found& found : explored.findings) {
    fmt::print(stderr, "{}", text_of({found}));
    if (found.seeds.size() < explored.count)
      fmt::print(stderr, "    {}: {}\n", text_of_seeds(found.seeds, explored.count),
                 replay(found.seeds.front()));
  }
  const std::size_t order_count = explored.outcomes.size();
  CheckResult result = conclude(
      request, std::move(explored.findings),
      !explored.may_differ ? "; nothing depends on the order of messages, so one schedule is enough"
                           : fmt::format("; {} schedules, {} different order{} of messages",
                                         explored.count, order_count, order_count == 1 ? "" : "s"));
  // In all schedules the same, else there were a finding.
  const std::map<int, std::vector<std::uint64_t>>& statuses = explored.statuses;
  if (result.status != exit_findings && !statuses.empty() && statuses.rbegin()->first != 0)
    result.status = statuses.rbegin()->first;
  return result;
}

}  // namespace sorrel::tool
