// `sorrel plan`: how to cut a regular grid over ranks, and why.

#include <algorithm>
#include <cstddef>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sorrel/grid/multigrid_plan.hpp>
#include <sorrel/grid/plan.hpp>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/plan/plan_machine.hpp"
#include "tools/sorrel/plan/plan_picture.hpp"
#include "tools/sorrel/plan/plan_request.hpp"

namespace sorrel::tool {

namespace {

using grid::Cut;
using grid::Machine;
using grid::MultigridPlan;
using grid::Plan;

Json json_of(const Cut& cut) {
  Json pack = Json::array();
  for (const grid::Pack each : cut.pack)
    pack.push_back(name_of(each));
  Json hops = Json::array();
  for (const grid::Hops& each : cut.hops)
    hops.push_back({{"mean", each.mean}, {"most", each.most}});
  return {{"grid", cut.grid},
          {"brick", cut.brick},
          {"pack", pack},
          {"hops", hops},
          {"overlap", name_of(cut.overlap)},
          {"seconds",
           {{"step", cut.time.step_s()},
            {"compute", cut.time.compute_s},
            {"pack", cut.time.pack_s},
            {"wire", cut.time.wire_s},
            {"wait", cut.time.wait_s}}}};
}

Json json_of(const Plan& plan, const Machine& machine, int rank_count) {
  Json json;
  json["machine"] = machine.name;
  json["assumed"] = Json::array();
  for (const grid::Source& source : machine.sources)
    if (source.is_assumed) json["assumed"].push_back(source.value);
  if (machine.measurement) {
    Json& measurement = json["measurement"] = {{"date", machine.measurement->date}};
    if (machine.measurement->spread) measurement["spread"] = *machine.measurement->spread;
    if (machine.measurement->other_work)
      measurement["other_work"] = *machine.measurement->other_work;
  }
  json["extents"] = plan.problem().extents;
  json["ranks"] = rank_count;
  json["used_ranks"] = plan.used_ranks();
  json["best"] = json_of(plan.best());
  json["why"] = Json::array();
  std::istringstream why(plan.why());
  for (std::string line; std::getline(why, line);)
    json["why"].push_back(line);
  json["candidates"] = Json::array();
  for (const Cut& cut : plan.cuts())
    json["candidates"].push_back(json_of(cut));
  return json;
}

Json json_of(const MultigridPlan& multigrid) {
  Json levels = Json::array();
  for (const grid::LevelPlan& level : multigrid.coarser()) {
    Json entry = {{"level", level.level},
                  {"extents", level.problem.extents},
                  {"best", json_of(level.best)},
                  {"finest_cut_kept", level.kept ? json_of(*level.kept) : Json()},
                  {"recommendation", level.is_gathered ? "gather" : "keep"},
                  {"recommended", json_of(level.chosen)},
                  {"gather_seconds", level.gather_s}};
    entry["other_longer_seconds"] = level.other_longer_s ? Json(*level.other_longer_s) : Json();
    entry["why"] = level.why;
    levels.push_back(std::move(entry));
  }
  return {{"steps", multigrid.steps()},
          {"cycle_seconds", multigrid.cycle_s()},
          {"coarser_levels", levels}};
}

std::string head_of(const Machine& machine) {
  const auto assumed = std::count_if(machine.sources.begin(), machine.sources.end(),
                                     [](const grid::Source& source) { return source.is_assumed; });
  std::vector<std::string> facts;
  if (machine.measurement) facts.push_back(tool::describe(*machine.measurement));
  if (assumed != 0)
    facts.push_back(fmt::format("{} of {} values assumed", assumed, machine.sources.size()));
  if (facts.empty()) return fmt::format("machine: {}\n", machine.name);
  return fmt::format("machine: {} ({})\n", machine.name, fmt::join(facts, "; "));
}

Result<Machine> machine_of(const PlanRequest& request, const Installation& installation) {
  if (!request.launcher.empty()) {
    return measured_cluster({.launcher = request.launcher,
                             .process_count = request.process_count,
                             .file = request.machine,
                             .is_kept_anyway = request.is_kept_anyway},
                            installation);
  }
  if (!request.machine.empty()) return named_machine(request.machine, installation);
  return this_machine(
      {.is_anew = request.is_measured_anew, .is_kept_anyway = request.is_kept_anyway},
      installation);
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

/// Prints the plan, and those of coarser levels if there are any; returns the exit status.
int print(const PlanRequest& request,
          const Machine& machine,
          const Plan& plan,
          const MultigridPlan* multigrid) {
  if (!request.picture.empty()) {
    const std::string title =
        fmt::format("Predicted time of a step, {} ranks, {}", plan.used_ranks(), machine.name);
    if (!write_file(request.picture, picture_of(plan, title)))
      return report_error("--plot: cannot write {}", request.picture);
  }
  if (request.wants_json) {
    Json json = json_of(plan, machine, request.rank_count);
    if (multigrid != nullptr) json["multigrid"] = json_of(*multigrid);
    fmt::print("{}\n", text_of(json));
  } else {
    fmt::print("{}{}\n{}", head_of(machine), plan.why(), plan.table(request.table_rows));
    if (multigrid != nullptr) fmt::print("\n{}", multigrid->text());
  }
  return 0;
}

}  // namespace

int plan_command(Arguments arguments) {
  const ReadRequest read = read_plan_request(arguments);
  if (!read.request) return read.status;
  const PlanRequest& request = *read.request;
  const Installation installation = find_installation();
  // Errors of the grid are reported before seconds are spent on measuring.
  const Result<void> good =
      request.multigrid ? check(request.problem, *request.multigrid) : check(request.problem);
  if (!good) return report_error("{}", good.error());
  const Result<Machine> machine = machine_of(request, installation);
  if (!machine.has_value()) return report_error("{}", machine.error());
  if (!request.multigrid) {
    const Result<Plan> plan = Plan::choose(machine.value(), request.problem, request.rank_count);
    if (!plan.has_value()) return report_error("{}", plan.error());
    return print(request, machine.value(), plan.value(), nullptr);
  }
  const Result<MultigridPlan> multigrid = MultigridPlan::choose(
      machine.value(), request.problem, request.rank_count, *request.multigrid);
  if (!multigrid.has_value()) return report_error("{}", multigrid.error());
  return print(request, machine.value(), multigrid->finest(), &multigrid.value());
}

}  // namespace sorrel::tool
