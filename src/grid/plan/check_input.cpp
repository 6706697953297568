// Bounds of the planner's input, and the errors that name them.
#include <algorithm>
#include <cstddef>

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/problem.hpp>

#include "base/text.hpp"

namespace sorrel::grid {
namespace {

// A number with its name, its minimum and its maximum.
struct Bound {
  const char* name;
  double value;
  double least;
  double most;
};

std::string error_in(const Bound& bound) {
  // In this form the comparison fails for NaN.
  if (bound.value >= bound.least && bound.value <= bound.most) return "";
  return text_of("%s is %g; it must be from %g to %g", bound.name, bound.value, bound.least,
                 bound.most);
}

template <std::size_t count>
std::string first_error(const Bound (&bounds)[count]) {
  for (const Bound& bound : bounds)
    if (std::string error = error_in(bound); !error.empty()) return error;
  return "";
}

constexpr double rate_least = 1e3;
constexpr double rate_most = 1e18;
constexpr double seconds_most = 1e3;

std::string error_in_table(const char* name, const CopyTable& table) {
  for (std::size_t i = 0; i < table.rates.size(); ++i) {
    const CopyRate& rate = table.rates[i];
    const Bound bounds[] = {
        {"a run length", static_cast<double>(rate.run_bytes), 1, 1e15},
        {"a stride", static_cast<double>(rate.stride_bytes), 1, 1e15},
        {"a set size", static_cast<double>(rate.set_bytes), 0, 1e15},
        {"a rate in bytes per second", rate.bytes_per_second, rate_least, rate_most},
    };
    if (const std::string error = first_error(bounds); !error.empty())
      return text_of("%s[%zu]: %s", name, i, error.c_str());
  }
  return "";
}

std::string error_in_torus(const Torus& torus) {
  const Bound bounds[] = {
      {"the number of dimensions of the torus", static_cast<double>(torus.extents.size()), 1,
       torus_dimension_count_max},
      {"hop_seconds", torus.hop_s, 0, seconds_most},
      {"hop_contention", torus.hop_contention, 0, 1e6},
  };
  if (std::string error = first_error(bounds); !error.empty()) return error;
  const auto is_chosen = [](int extent) { return extent == 0; };
  if (std::all_of(torus.extents.begin(), torus.extents.end(), is_chosen)) return "";
  double node_count = 1;
  for (const int extent : torus.extents) {
    if (extent < 1) return "the extents of the torus must be all 0 or all at least 1";
    node_count *= extent;
  }
  return error_in({"the number of nodes of the torus", node_count, 1, torus_node_count_max});
}

std::string error_in_link(const Link& link) {
  const Bound bounds[] = {
      {"group_ranks", static_cast<double>(link.group_ranks), 0, rank_count_max},
      {"group_count", static_cast<double>(link.group_count), 0, rank_count_max},
      {"overhead_seconds", link.overhead_s, 0, seconds_most},
      {"overhead_seconds_per_byte", link.overhead_s_per_byte, 0, 1},
      {"latency_seconds", link.latency_s, 0, seconds_most},
      {"gap_seconds_per_byte", link.gap_s_per_byte, 0, 1},
      {"contention", link.contention, 1, 1e6},
      {"progress_share", link.progress_share, 0, 1},
      {"announced_bytes", static_cast<double>(link.announced_bytes), 0, 1e15},
  };
  std::string error = first_error(bounds);
  if (error.empty() && link.torus) error = error_in_torus(*link.torus);
  return error.empty() ? "" : text_of("link '%s': %s", link.name.c_str(), error.c_str());
}

std::string error_in_memory(const std::vector<MemoryLevel>& memory) {
  if (memory.empty()) return "memory is empty; at least one level is needed";
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::string name = text_of("memory[%zu] in bytes per second", i);
    const Bound bound{name.c_str(), memory[i].bytes_per_second, rate_least, rate_most};
    if (std::string error = error_in(bound); !error.empty()) return error;
    const bool is_last = i + 1 == memory.size();
    const bool is_after =
        i == 0 || is_last ? true : memory[i].size_bytes > memory[i - 1].size_bytes;
    if (is_last != (memory[i].size_bytes == 0) || memory[i].size_bytes < 0 || !is_after)
      return "memory must be levels of ascending size, the last of size 0 (any)";
  }
  return "";
}

std::string error_in_planes(const std::vector<PlaneCost>& planes) {
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const Bound bounds[] = {
        {"a plane's size", static_cast<double>(planes[i].plane_bytes), 1, 1e15},
        {"a set size", static_cast<double>(planes[i].set_bytes), 1, 1e15},
        {"a slowdown", planes[i].slowdown, 0.01, 1e3},
    };
    if (const std::string error = first_error(bounds); !error.empty())
      return text_of("planes[%zu]: %s", i, error.c_str());
  }
  return "";
}

}  // namespace

Result<void> check(const Problem& problem) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  const Bound bounds[] = {
      {"extent 0", number(problem.extents[0]), 1, number(extent_max)},
      {"extent 1", number(problem.extents[1]), 1, number(extent_max)},
      {"extent 2", number(problem.extents[2]), 1, number(extent_max)},
      {"the grain", number(problem.grain), 1, number(extent_max)},
      {"the element's size in bytes", number(problem.element_bytes), 1, number(element_bytes_max)},
      {"the number of fields", number(problem.field_count), 1, number(field_count_max)},
      {"the halo's width", number(problem.halo_width), 1, number(extent_max)},
      {"flops per cell", problem.flops_per_cell, 0, 1e9},
      {"bytes per cell", problem.bytes_per_cell, 0, 1e9},
      {"the memory limit in bytes", number(problem.memory_limit_bytes), 0, 1e18},
  };
  if (std::string error = first_error(bounds); !error.empty()) return Error{std::move(error)};
  const double cells =
      number(problem.extents[0]) * number(problem.extents[1]) * number(problem.extents[2]);
  if (cells > 1e15)
    return Error{text_of("the grid has %g cells; at most 1e+15 are allowed", cells)};
  for (int d = 0; d < dimension_count_max; ++d) {
    const std::int64_t extent = problem.extents[static_cast<std::size_t>(d)];
    if (extent > 1 && extent % problem.grain != 0)
      return Error{text_of("a grain of %lld cells does not divide the %lld of dimension %d",
                           static_cast<long long>(problem.grain), static_cast<long long>(extent),
                           d)};
    if (extent > 1 && problem.halo_width > extent)
      return Error{
          text_of("a halo of %lld cells is wider than the %lld of dimension %d; at most %lld "
                  "are allowed",
                  static_cast<long long>(problem.halo_width), static_cast<long long>(extent), d,
                  static_cast<long long>(extent))};
  }
  return {};
}

Result<void> check(const Machine& machine) {
  const Bound bounds[] = {
      {"processors", static_cast<double>(machine.processor_count), 0, rank_count_max},
      {"flops_per_second", machine.flops_per_second, rate_least, rate_most},
      {"row_start_seconds", machine.row_start_s, 0, seconds_most},
      {"ghost_share", machine.ghost_share, 0, 1e3},
      {"skin_penalty", machine.skin_penalty, 0, 1e3},
      {"row_end_seconds", machine.row_end_s, 0, seconds_most},
      {"poll_seconds", machine.poll_s, 0, seconds_most},
  };
  if (std::string error = first_error(bounds); !error.empty()) return Error{std::move(error)};
  if (std::string error = error_in_memory(machine.memory); !error.empty())
    return Error{std::move(error)};
  if (std::string error = error_in_planes(machine.planes); !error.empty())
    return Error{std::move(error)};
  if (machine.copy.is_empty()) return Error{"copy is empty; at least one rate is needed"};
  const std::pair<const char*, const CopyTable*> tables[] = {
      {"copy", &machine.copy}, {"blocked", &machine.blocked}, {"datatype", &machine.datatype}};
  for (const auto& [name, table] : tables)
    if (std::string error = error_in_table(name, *table); !error.empty())
      return Error{std::move(error)};
  if (machine.links.empty()) return Error{"links is empty; at least one is needed"};
  for (const Link& link : machine.links) {
    if (std::string error = error_in_link(link); !error.empty()) return Error{std::move(error)};
    if (link.torus && &link != &machine.links.back())
      return Error{text_of("link '%s' has a torus; only the last link, the outermost, may have one",
                           link.name.c_str())};
  }
  return {};
}

}  // namespace sorrel::grid
