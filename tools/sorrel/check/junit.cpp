#include "tools/sorrel/check/junit.hpp"

#include <fmt/core.h>

#include "tools/sorrel/check/check_run.hpp"

namespace sorrel::tool {

namespace {

/// `text` as characters of XML; those that XML cannot hold are left out.
std::string xml(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    const bool is_control = static_cast<unsigned char>(letter) < 0x20;
    if (is_control && letter != '\n' && letter != '\t') continue;
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string test_case(const std::string& program,
                      const std::string& name,
                      double seconds,
                      const std::string& failure,
                      const std::string& details) {
  std::string text = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}")",
                                 xml(program), xml(name), seconds);
  if (failure.empty()) return text + "/>\n";
  return text + fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                            xml(failure), xml(details));
}

}  // namespace

std::string junit_of(const JunitRun& run) {
  const bool has_failed = run.status != 0 && run.status != exit_findings;
  const std::string status = fmt::format("exit status {}", run.status);
  std::string cases = test_case(run.name, "run", run.seconds, has_failed ? status : "", status);
  std::size_t failure_count = has_failed ? 1 : 0;
  std::size_t case_count = 1;
  for (const Found& found : run.findings) {
    cases += test_case(run.name, fmt::format("check: {}: {}", found.kind->name, found.call.call), 0,
                       found.text, text_of(std::vector<Found>{found}));
    ++case_count;
    ++failure_count;
  }
  if (run.is_checked && run.findings.empty()) {
    cases += test_case(run.name, "check", 0, "", "");
    ++case_count;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      xml(run.name), case_count, failure_count, run.seconds, cases);
}

}  // namespace sorrel::tool
