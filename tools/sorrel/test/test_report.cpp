#include "tools/sorrel/test/test_report.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/core.h>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "tools/sorrel/check/check_run.hpp"
#include "tools/sorrel/check/junit.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t lines_shown = 40;

/// The line with blanks in place of its tabs.
std::string without_tabs(std::string_view line) {
  constexpr std::size_t tab_width = 8;
  std::string text;
  for (const char letter : line) {
    if (letter == '\t') {
      text.append(tab_width - text.size() % tab_width, ' ');
    } else {
      text += letter;
    }
  }
  return text;
}

/// The last lines of what a run has printed, each after `margin`.
std::string end_of(const std::string& output, std::string_view margin) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    lines.push_back(std::string_view(output).substr(at, end - at));
    at = end + 1;
  }
  const std::size_t first = lines.size() > lines_shown ? lines.size() - lines_shown : 0;
  std::string text;
  if (first > 0) text += fmt::format("{}... the last {} lines:\n", margin, lines_shown);
  for (std::size_t i = first; i < lines.size(); ++i)
    text += fmt::format("{}{}\n", margin, printable(without_tabs(lines[i])));
  return text;
}

std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The runs' findings, each one once.
std::vector<Found> all_findings(const std::vector<TestResult>& results) {
  std::vector<Found> findings;
  for (const TestResult& result : results) {
    for (const Found& found : result.outcome.findings)
      add_finding(findings, found);
  }
  return findings;
}

std::vector<JunitCase> junit_cases(const TestResult& result) {
  const TestOutcome& outcome = result.outcome;
  std::vector<JunitCase> cases = {
      {.name = result.run.name,
       .seconds = outcome.seconds,
       .failure = outcome.failure,
       .details = end_of(outcome.output, "") + shell_line(outcome.repeat) + "\n"}};
  // Where a deadlock was is a part of its run's failure.
  if (!result.run.is_checked()) return cases;
  for (JunitCase& found : cases_of(outcome.findings, result.run.name + ": "))
    cases.push_back(std::move(found));
  return cases;
}

}  // namespace

std::string text_of(const TestResult& result) {
  const TestOutcome& outcome = result.outcome;
  const bool has_failed = !outcome.failure.empty();
  const char* verdict = has_failed ? "FAILED" : outcome.findings.empty() ? "ok" : "found";
  std::string reason = outcome.failure;
  if (!has_failed && !outcome.findings.empty())
    reason = count_text(outcome.findings.size(), "finding");
  std::string text = fmt::format("  {:<7} {:<32} {:8.2f} s{}{}\n", verdict, result.run.name,
                                 outcome.seconds, reason.empty() ? "" : "  ", printable(reason));
  if (outcome.has_passed()) return text;
  return text + end_of(outcome.output, "          | ") +
         fmt::format("          repeat: {}\n", shell_line(outcome.repeat));
}

std::string summary_of(const std::vector<TestResult>& results) {
  const auto failed =
      std::ranges::count_if(results, [](const auto& one) { return !one.outcome.failure.empty(); });
  std::size_t finding_count = 0;
  for (const TestResult& result : results)
    finding_count += result.run.is_checked() ? result.outcome.findings.size() : 0;
  return fmt::format("{} of {} failed, {}", failed, count_text(results.size(), "run"),
                     count_text(finding_count, "finding"));
}

int status_of(const std::vector<TestResult>& results) {
  int status = 0;
  for (const TestResult& result : results) {
    if (!result.outcome.failure.empty()) return 1;
    if (!result.outcome.findings.empty()) status = exit_findings;
  }
  return status;
}

bool write_files(const std::vector<TestResult>& results,
                 const TestOptions& options,
                 const std::string& program) {
  bool is_written = true;
  if (!options.junit.empty()) {
    std::vector<JunitCase> cases;
    for (const TestResult& result : results) {
      for (JunitCase& test : junit_cases(result))
        cases.push_back(std::move(test));
    }
    is_written = write_output_file(options.junit, junit_of(program, cases));
  }
  if (!options.sarif.empty()) {
    const std::string sarif = sarif_of(all_findings(results), "sorrel test");
    is_written = write_output_file(options.sarif, sarif + "\n") && is_written;
  }
  return is_written;
}

}  // namespace sorrel::tool
