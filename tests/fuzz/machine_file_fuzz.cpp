// Machine files, and a plan from each that is accepted.
#include <cmath>
#include <string>

#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/plan.hpp>

#include "fuzz/harness.hpp"

using sorrel::fuzz::require;

extern "C" const char* const sorrel_fuzz_tokens[];
const char* const sorrel_fuzz_tokens[] = {
    "{",           "}",       "[",          "]",
    "[]",          "{}",      ",",          ":",
    "\"",          "null",    "true",       "\"a\"",
    "1e999",       "-1e-999", "1e18",       "value",
    "rates",       "source",  "assumed",    "links",
    "group_count", "planes",  "processors", "name",
    "[0, 1e3]",    "\\u0000", "\xff",       "{\"value\": 0, \"source\": \"x\"}",
    nullptr};

namespace {

void plan_with(const sorrel::grid::Machine& machine, int rank_count) {
  sorrel::grid::Problem problem;
  problem.extents = {64, 48, 100};
  const auto plan = sorrel::grid::Plan::choose(machine, problem, rank_count);
  if (!plan.has_value()) {
    require(!plan.error().empty(), "an error has a text");
    return;
  }
  for (const auto& cut : plan.value().cuts())
    require(std::isfinite(cut.time.step_s()) && cut.time.step_s() >= 0,
            "a predicted time is a number");
  require(!plan.value().why().empty() && !plan.value().table(10).empty(), "a plan has a text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto machine = sorrel::grid::parse_machine(sorrel::fuzz::text_of(data, size));
  if (!machine.has_value()) {
    require(!machine.error().empty(), "an error has a text");
    require(machine.error().find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  const std::string text = to_json(machine.value());
  const auto again = sorrel::grid::parse_machine(text);
  require(again.has_value() && to_json(again.value()) == text, "what is written is read again");
  for (const int rank_count : {1, 6, 64})
    plan_with(machine.value(), rank_count);
  return 0;
}
