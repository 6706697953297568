#include "tools/sorrel/test/test_run.hpp"

#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <system_error>
#include <utility>

#include "tools/sorrel/check/check_run.hpp"
#include "tools/sorrel/test/end_of_job.hpp"
#include "tools/sorrel/test/limited_process.hpp"

namespace sorrel::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// "" if there is none.
std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string seconds_text(std::chrono::milliseconds limit) {
  return fmt::format("{:g} s", std::chrono::duration<double>(limit).count());
}

/// How the command ended, if that is a failure. Findings of a check are none: they are listed.
std::string failure_of(const LimitedProcess& ended,
                       const TestRun& run,
                       const TestSubject& subject) {
  if (ended.error != 0) return fmt::format("cannot be started: {}", std::strerror(ended.error));
  if (ended.is_late) return fmt::format("had not ended after {}", seconds_text(subject.limit));
  if (WIFSIGNALED(ended.status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(ended.status),
                       strsignal(WTERMSIG(ended.status)));
  const int status = WEXITSTATUS(ended.status);
  if (status == 0 || (run.is_checked() && status == exit_findings)) return "";
  return fmt::format("exit status {}", status);
}

/// Reads the file of a check.
void take_findings(const std::string& path, TestOutcome& outcome, bool has_status) {
  Result<std::vector<Found>> findings = findings_of(file_text(path));
  if (findings.has_value()) {
    outcome.findings = std::move(findings).value();
  } else if (outcome.failure.empty()) {
    outcome.failure = findings.error();
  }
  if (has_status && outcome.findings.empty() && outcome.failure.empty())
    outcome.failure = fmt::format("exit status {} without a finding", exit_findings);
}

}  // namespace

TestOutcome perform(const TestRun& run, const TestSubject& subject) {
  TestOutcome outcome;
  outcome.repeat = {"sorrel", "run"};
  outcome.repeat.insert(outcome.repeat.end(), run.options.begin(), run.options.end());
  outcome.repeat.insert(outcome.repeat.end(), subject.program.begin(), subject.program.end());
  const std::string file = subject.folder + "/run.json";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  std::vector<std::string> words = {subject.command, "run"};
  words.insert(words.end(), run.options.begin(), run.options.end());
  words.insert(words.end(), {run.is_checked() ? "--check-json" : "--report-json", file});
  words.insert(words.end(), subject.program.begin(), subject.program.end());

  const Clock::time_point begin = Clock::now();
  LimitedProcess ended = run_limited(std::move(words), subject.limit);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  outcome.failure = failure_of(ended, run, subject);
  outcome.output = std::move(ended.text);
  if (!run.is_checked()) {
    if (outcome.failure.empty()) return outcome;
    EndOfJob end = end_of_job(file_text(file));
    outcome.findings = std::move(end.findings);
    // A program may end with the status of a deadlock, too.
    if (end.is_deadlock) outcome.failure += ", a deadlock";
  } else if (outcome.failure.empty() || std::filesystem::exists(file, ignored)) {
    const bool has_findings = ended.error == 0 && !ended.is_late && WIFEXITED(ended.status) &&
                              WEXITSTATUS(ended.status) == exit_findings;
    take_findings(file, outcome, has_findings);
  }
  return outcome;
}

}  // namespace sorrel::tool
