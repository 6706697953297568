#include "tools/sorrel/view/job_list.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <map>
#include <pwd.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "launch/job_parts.hpp"

namespace sorrel::tool {

namespace {

std::optional<std::string_view> setting_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    std::string_view setting = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(setting.size() + 1, environment.size()));
    if (!setting.starts_with(name) || setting.substr(name.size(), 1) != "=") continue;
    return setting.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<launch::ProcessMark> mark_in(std::string_view environment, pid_t pid) {
  const auto text = setting_in(environment, launch::mark_variable);
  const auto mark = text ? launch::decode_mark(*text) : std::nullopt;
  // A child that a rank has forked shows the mark of its parent; a container numbers otherwise.
  const bool is_own =
      mark && mark->process != 0 && (mark->process == pid || !is_in_own_pid_namespace(pid));
  return is_own ? mark : std::nullopt;
}

std::optional<JobProcess> process_of(pid_t pid) {
  const std::string environment = environment_of(pid);
  const auto mark = mark_in(environment, pid);
  if (!mark) return std::nullopt;
  const auto text = setting_in(environment, launch::job_variable);
  auto spec = text ? launch::decode(*text) : std::nullopt;
  const auto facts = facts_of(pid);
  if (!spec || !facts || facts->state == 'Z') return std::nullopt;
  return JobProcess{.facts = *facts, .spec = *std::move(spec), .mark = *mark};
}

/// The number of the job to which a process belongs.
pid_t job_of(const JobProcess& process) {
  const launch::JobSpec& spec = process.spec;
  if (spec.launcher != 0) return spec.launcher;
  if (spec.host_mpi.daemon != 0) return spec.host_mpi.daemon;
  const bool has_parent = spec.memory_descriptor || spec.is_saved() || !spec.trace_folder.empty() ||
                          !spec.host_mpi.name.empty();
  return has_parent ? process.facts.parent : process.facts.pid;
}

bool is_of_this_user(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->user == geteuid();
}

std::string name_of_user(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry == nullptr ? fmt::format("user {}", user) : entry->pw_name;
}

}  // namespace

JobProcess::Ranks JobProcess::ranks() const {
  if (spec.rank_count == 0 || !spec.host_mpi.name.empty()) return {};
  const std::vector<launch::ProcessShare> shares = launch::shares_of(spec);
  if (spec.own_process >= shares.size()) return {};
  const launch::ProcessShare& own = shares[spec.own_process];
  return {.first = own.first_rank, .last = own.first_rank + own.rank_count};
}

std::vector<RunningJob> running_jobs() {
  std::map<pid_t, RunningJob> jobs;
  for (const pid_t pid : all_processes()) {
    if (!is_of_this_user(pid)) continue;
    auto process = process_of(pid);
    if (!process) continue;
    RunningJob& job = jobs[job_of(*process)];
    job.processes.push_back(*std::move(process));
  }
  std::vector<RunningJob> all;
  for (auto& [pid, job] : jobs) {
    job.pid = pid;
    std::ranges::sort(job.processes, {}, [](const auto& process) {
      return std::pair(process.spec.own_process, process.facts.pid);
    });
    job.command = fmt::format("{}", fmt::join(words_of(job.processes.front().facts.pid), " "));
    all.push_back(std::move(job));
  }
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto& job) { return job.processes.front().facts.age_seconds; });
  return all;
}

Result<RunningJob> find_job(const std::string& word) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (error != std::errc{} || end != word.data() + word.size() || pid <= 0)
    return Error{fmt::format("'{}' is not the number of a job; `sorrel ps` lists them", word)};
  for (RunningJob& job : running_jobs()) {
    const bool has_process = std::ranges::any_of(
        job.processes, [&](const auto& process) { return process.facts.pid == pid; });
    if (job.pid == pid || has_process) return std::move(job);
  }
  const auto facts = facts_of(pid);
  if (!facts) return Error{fmt::format("there is no process {}; `sorrel ps` lists the jobs", pid)};
  if (facts->user != geteuid()) {
    return Error{fmt::format("process {} belongs to {}: only that user can look into it", pid,
                             name_of_user(facts->user))};
  }
  return Error{fmt::format(
      "process {} is no job that `sorrel run` has started; `sorrel ps` lists the jobs", pid)};
}

std::optional<RunningJob> job_of_this_command() {
  const pid_t own = getpid();
  const pid_t parent = getppid();
  for (RunningJob& job : running_jobs()) {
    const bool is_own = std::ranges::any_of(job.processes, [&](const JobProcess& process) {
      const pid_t daemon = process.spec.host_mpi.daemon;
      return process.spec.launcher == own || process.facts.parent == own ||
             (daemon != 0 && daemon == parent);
    });
    if (is_own) return std::move(job);
  }
  return std::nullopt;
}

std::optional<launch::ProcessMark> mark_of(pid_t pid) {
  return mark_in(environment_of(pid), pid);
}

}  // namespace sorrel::tool
