#include "tools/sorrel/flight/flight_page.hpp"

#include <cstddef>
#include <vector>

#include "flight_page_text.inc"
#include "tools/sorrel/common/shell_line.hpp"
#include "tools/sorrel/report/html_page.hpp"

namespace sorrel::tool {

namespace {

std::string run_line(const FlightPlan& plan, const std::vector<std::string>& options) {
  std::vector<std::string> words = {"sorrel", "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  return shell_line(words);
}

}  // namespace

std::string flight_page(const Json& data) {
  return html_of(
      HtmlPage{.title = data.value("program", "") + ": " + data.value("kind", "") + " - Sorrel",
               .style = flight_style,
               .body = flight_body,
               .data = line_of(data),
               .blobs = {},
               .script = flight_script});
}

std::string command_line(const FlightPlan& plan) {
  return run_line(plan, {});
}

std::string next_command(const FlightPlan& plan, const std::string& kind) {
  const bool is_an_error = kind == "deadlock" || kind == "crash" || kind == "error";
  if (is_an_error && plan.can_check) return run_line(plan, {"--check"});
  if (!is_an_error && plan.can_trace) {
    const std::string trace = plan.program + ".trace";
    return run_line(plan, {"--trace", trace}) + "; " +
           shell_line(std::vector<std::string>{"sorrel", "report", trace});
  }
  return plan.can_be_verbose ? run_line(plan, {"--verbose"}) : "";
}

void limit_ranks(Json& data, std::size_t count_max) {
  const auto limit = [&](const char* part, const char* name, const char* rest) {
    if (!data.contains(part) || !data[part].is_object() || !data[part].contains(name)) return;
    Json& all = data[part][name];
    if (!all.is_array() || all.size() <= count_max) return;
    const std::size_t left_out = all.size() - count_max;
    all.get_ref<Json::array_t&>().resize(count_max);
    // Adding a member moves the others.
    data[rest] = left_out;
  };
  limit("report", "waits", "left_out");
  limit("look", "rank_states", "left_out");
  limit("report", "unreceived", "messages_left_out");
}

}  // namespace sorrel::tool
