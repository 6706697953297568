// `sorrel plan`: how to cut a regular grid over ranks, and why.

#include <algorithm>
#include <cstddef>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <string>
#include <vector>

#include <sorrel/grid/plan.hpp>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/json_writer.hpp"
#include "tools/sorrel/plan/plan_machine.hpp"
#include "tools/sorrel/plan/plan_picture.hpp"
#include "tools/sorrel/plan/plan_request.hpp"

namespace sorrel::tool {

namespace {

using grid::Candidate;
using grid::Machine;
using grid::Plan;

template <class Values>
void write_numbers(JsonWriter& json, const char* key, const Values& values) {
  json.begin_list(key);
  for (const auto value : values)
    json.value("", value);
  json.end_list();
}

void write_candidate(JsonWriter& json, const Candidate& candidate) {
  write_numbers(json, "grid", candidate.grid);
  write_numbers(json, "brick", candidate.brick);
  json.begin_list("pack");
  for (const grid::Pack pack : candidate.pack)
    json.value("", name_of(pack));
  json.end_list();
  json.value("overlap", name_of(candidate.overlap));
  json.begin_object("seconds");
  json.value("step", candidate.time.step_s());
  json.value("compute", candidate.time.compute_s);
  json.value("pack", candidate.time.pack_s);
  json.value("wire", candidate.time.wire_s);
  json.value("wait", candidate.time.wait_s);
  json.end_object();
}

std::string json_of(const Plan& plan, const Machine& machine, int rank_count) {
  JsonWriter json;
  json.begin_object();
  json.value("machine", machine.name);
  json.begin_list("assumed");
  for (const grid::Source& source : machine.sources)
    if (source.is_assumed) json.value("", source.value);
  json.end_list();
  if (machine.measurement) {
    json.begin_object("measurement");
    json.value("date", machine.measurement->date);
    if (machine.measurement->spread) json.value("spread", *machine.measurement->spread);
    if (machine.measurement->other_work) json.value("other_work", *machine.measurement->other_work);
    json.end_object();
  }
  write_numbers(json, "extents", plan.problem().extents);
  json.value("ranks", rank_count);
  json.value("used_ranks", plan.used_ranks());
  json.begin_object("best");
  write_candidate(json, plan.best());
  json.end_object();
  json.begin_list("why");
  const std::string why = plan.why();
  for (std::size_t begin = 0; begin < why.size();) {
    const std::size_t end = why.find('\n', begin);
    json.value("", why.substr(begin, end - begin));
    begin = end + 1;
  }
  json.end_list();
  json.begin_list("candidates");
  for (const Candidate& candidate : plan.candidates()) {
    json.begin_object();
    write_candidate(json, candidate);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return json.text() + "\n";
}

std::string head_of(const Machine& machine) {
  const auto assumed = std::count_if(machine.sources.begin(), machine.sources.end(),
                                     [](const grid::Source& source) { return source.is_assumed; });
  std::vector<std::string> facts;
  if (machine.measurement) facts.push_back(describe(*machine.measurement));
  if (assumed != 0)
    facts.push_back(fmt::format("{} of {} values assumed", assumed, machine.sources.size()));
  if (facts.empty()) return fmt::format("machine: {}\n", machine.name);
  return fmt::format("machine: {} ({})\n", machine.name, fmt::join(facts, "; "));
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

int plan_command(Arguments arguments) {
  const ReadRequest read = read_plan_request(arguments);
  if (!read.request) return read.status;
  const PlanRequest& request = *read.request;
  const Installation installation = find_installation();
  // Errors of the grid are reported before seconds are spent on measuring.
  if (std::string error = error_in(request.problem); !error.empty())
    return report_error("{}", error);
  const Result<Machine> machine = request.machine.empty()
                                      ? this_machine({.is_anew = request.is_measured_anew,
                                                      .is_kept_anyway = request.is_kept_anyway},
                                                     installation)
                                      : named_machine(request.machine, installation);
  if (!machine.has_value()) return report_error("{}", machine.error());
  const Result<Plan> plan = Plan::choose(machine.value(), request.problem, request.rank_count);
  if (!plan.has_value()) return report_error("{}", plan.error());

  if (!request.picture.empty()) {
    const std::string title = fmt::format("Predicted time of a step, {} ranks, {}",
                                          plan.value().used_ranks(), machine.value().name);
    if (!write_file(request.picture, picture_of(plan.value(), title)))
      return report_error("--plot: cannot write {}", request.picture);
  }
  if (request.wants_json) {
    fmt::print("{}", json_of(plan.value(), machine.value(), request.rank_count));
  } else {
    fmt::print("{}{}\n{}", head_of(machine.value()), plan.value().why(),
               plan.value().table(request.table_rows));
  }
  return 0;
}

}  // namespace sorrel::tool
