#include "tools/sorrel/check/junit.hpp"

#include <cstddef>
#include <fmt/core.h>
#include <utility>

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

std::string text_of(const std::string& program, const JunitCase& test) {
  const std::string text = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}")",
                                       xml(program), xml(test.name), test.seconds);
  if (test.failure.empty()) return text + "/>\n";
  return text + fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                            xml(test.failure), xml(test.details));
}

}  // namespace

std::vector<JunitCase> cases_of(const std::vector<Found>& findings, const std::string& prefix) {
  std::vector<JunitCase> cases;
  for (const Found& found : findings) {
    cases.push_back({.name = fmt::format("{}{}: {}", prefix, found.kind->name, found.call.call),
                     .failure = found.text,
                     .details = text_of(std::vector<Found>{found})});
  }
  return cases;
}

std::vector<JunitCase> cases_of(const JunitRun& run) {
  const bool has_failed = run.status != 0 && run.status != exit_findings;
  const std::string status = fmt::format("exit status {}", run.status);
  std::vector<JunitCase> cases = {{.name = "run",
                                   .seconds = run.seconds,
                                   .failure = has_failed ? status : "",
                                   .details = status}};
  for (JunitCase& found : cases_of(run.findings, "check: "))
    cases.push_back(std::move(found));
  if (run.is_checked && run.findings.empty())
    cases.push_back({.name = "check", .failure = "", .details = ""});
  return cases;
}

std::string junit_of(const std::string& program, const std::vector<JunitCase>& cases) {
  std::string text;
  std::size_t failure_count = 0;
  double seconds = 0;
  for (const JunitCase& test : cases) {
    text += text_of(program, test);
    failure_count += test.failure.empty() ? 0 : 1;
    seconds += test.seconds;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      xml(program), cases.size(), failure_count, seconds, text);
}

}  // namespace sorrel::tool
