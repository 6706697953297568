// `sorrel report FILE`: what a trace says about its job, as a page or as JSON.

#include <fmt/core.h>
#include <string>
#include <vector>

#include "os/file_size_limit.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/report/advice.hpp"
#include "tools/sorrel/report/analysis.hpp"
#include "tools/sorrel/report/report_json.hpp"
#include "tools/sorrel/report/report_page.hpp"
#include "tools/sorrel/run/wire_options.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* report_usage = "sorrel report [options] FILE";
constexpr const char* report_description =
    "Says why a job took as long as it did: makes a page of FILE, a trace\n"
    "that `sorrel run --trace FILE` has written. The page has the time of\n"
    "each rank and worker, what each rank waited for, the messages between\n"
    "ranks, the critical path, advice, and what other numbers of ranks would\n"
    "change. Any browser shows it, without network.\n";
constexpr std::uint64_t replayed_ranks_max = std::uint64_t{1} << 20;
constexpr const char* report_footer =
    "Examples:\n"
    "  sorrel run -n 64 --trace heat.trace ./heat\n"
    "  sorrel report heat.trace                   # writes heat.trace.html\n"
    "  sorrel report heat.trace -o page.html\n"
    "  sorrel report heat.trace --json heat.json  # for scripts; - is stdout";

}  // namespace

int report_command(Arguments arguments) {
  std::string page;
  std::string json;
  std::string latency;
  std::string ranks;
  const auto app = make_app(report_usage, report_description, report_footer);
  app->add_option("-o,--output", page, "The page to write; without it: FILE.html")
      ->type_name("PAGE");
  app->add_option("--json", json, "Write the numbers to this file, and a page only with -o")
      ->type_name("FILE");
  app->add_option("--latency", latency,
                  "Also predict the time with this latency between processes, as 20us")
      ->type_name("TIME");
  app->add_option("--ranks", ranks,
                  "Also predict the time with so many ranks, a multiple of those of the trace")
      ->type_name("N");
  std::vector<std::string> options;
  std::vector<std::string> operands;
  const std::string error = sort_arguments(*app, arguments, options, operands);
  if (!error.empty()) return report_error("{}", error);
  if (const auto status = parse_options(*app, options)) return *status;
  if (operands.size() != 1) return report_error("one trace is needed; usage: {}", report_usage);
  OutlookRequest request;
  if (!latency.empty()) {
    request.latency_ns = parse_delay(latency);
    if (!request.latency_ns) {
      return report_error(
          "--latency must be a time such as 500ns, 20us or 1ms, at most 10s, not '{}'", latency);
    }
  }
  os::make_file_size_limit_an_error();
  const std::string& trace = operands.front();
  const Result<JobTrace> read = read_job_trace(trace);
  if (!read.has_value()) return report_error("{}", read.error());
  const JobTrace& job = read.value();
  if (!ranks.empty()) {
    const std::size_t count = job.ranks.size();
    const auto wanted = parse_count(ranks);
    if (!wanted || *wanted == 0 || *wanted % count != 0 || *wanted > replayed_ranks_max) {
      return report_error(
          "--ranks must be a multiple of {}, the ranks of the trace, up to {}, not '{}'", count,
          replayed_ranks_max, ranks);
    }
    request.rank_factor = static_cast<std::uint32_t>(*wanted / count);
  }
  const WaitCauses causes(job);
  const Analysis analysis = analyze(job, causes);
  const Outlook outlook = find_outlook(job, causes, analysis, request);
  if (job.use.are_taken()) {
    print_red(job.use.taken_text());
  } else {
    for (const std::string& why : outlook.not_predicted)
      print_diagnostic("warning: not predicted: " + why);
  }
  const Json numbers = json_of(job, analysis, outlook);
  if (!json.empty() && !write_output_file(json, text_of(numbers) + "\n")) return 1;
  if (page.empty() && json.empty()) page = trace + ".html";
  if (page.empty()) return 0;
  const std::string name = trace.substr(trace.rfind('/') + 1);
  if (!write_output_file(page, page_of(name, numbers, job, causes, analysis))) return 1;
  if (page != "-" && json != "-") fmt::print("{}: open it in a browser\n", page);
  return 0;
}

}  // namespace sorrel::tool
