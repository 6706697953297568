#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <sorrel/grid/multigrid_plan.hpp>

#include "base/divisors.hpp"
#include "base/text.hpp"
#include "grid/plan/cost_model.hpp"
#include "grid/plan/explain_level.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/gather_cost.hpp"
#include "grid/plan/grid_search.hpp"
#include "grid/plan/process_grids.hpp"

namespace sorrel::grid {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

// Halves the extents; as in apps/multigrid, all must be even, and two cells remain.
Result<Problem> coarser_problem(const Problem& fine, int level) {
  Problem coarse = fine;
  for (std::size_t d = 0; d < fine.extents.size(); ++d) {
    const std::int64_t extent = fine.extents[d];
    if (extent == 1) continue;
    if (extent % 2 != 0 || extent < 4)
      return Error{
          text_of("level %d cannot be halved: dimension %zu has %lld cells, an even number "
                  "from 4 on is needed; at most %d levels",
                  level - 1, d, static_cast<long long>(extent), level)};
    coarse.extents[d] = extent / 2;
  }
  coarse.grain = fine.grain % 2 == 0 ? fine.grain / 2 : 1;
  if (const Result<void> good = check(coarse); !good)
    return Error{text_of("level %d: %s", level, good.error().c_str())};
  return coarse;
}

Result<std::vector<Problem>> problems_of(const Problem& finest, int level_count) {
  std::vector<Problem> problems{finest};
  for (int level = 1; level < level_count; ++level) {
    Result<Problem> next = coarser_problem(problems.back(), level);
    if (!next) return Error{next.error()};
    problems.push_back(next.value());
  }
  return problems;
}

// Every grid whose blocks can consist of whole blocks of `grid`, which comes first.
std::vector<ProcessGrid> merged_grids(const ProcessGrid& grid) {
  std::vector<ProcessGrid> grids;
  for (const int first : divisors_of(grid[0]))
    for (const int second : divisors_of(grid[1]))
      for (const int third : divisors_of(grid[2]))
        grids.push_back({first, second, third});
  std::reverse(grids.begin(), grids.end());
  return grids;
}

/// The shortest way through the levels: on each, the cut of the level before or a merged one.
///
/// Computed from the coarsest level to the finest, for each grid on each level. Gathering early may
/// pay on later levels only, so that a decision level by level would miss it.
class LevelSearch {
 public:
  LevelSearch(const Machine& machine,
              const std::vector<Problem>& problems,
              const Plan& finest,
              int steps)
      : machine_(machine), problems_(problems), steps_(steps), grids_(merged_grids(finest.grid())) {
    for (const ProcessGrid& grid : grids_)
      bricks_.push_back(grid == finest.grid() ? finest.best().brick : brick_of(grid));
    ways_.resize(problems.size());
    for (std::size_t level = problems.size(); --level > 0;)
      find_ways(level);
  }

  /// From the finest level, whose cut is the first grid. Empty: no cut is possible on a level.
  [[nodiscard]] std::vector<LevelPlan> levels() const {
    std::vector<LevelPlan> plans;
    std::size_t grid = 0;
    for (std::size_t level = 1; level < problems_.size(); ++level) {
      const Step step = step_from(level, grid);
      if (step.chosen == impossible) return {};
      plans.push_back(plan_of(level, grid, step));
      grid = step.grid;
    }
    return plans;
  }

 private:
  /// A grid on a level: its cut, and the seconds of a cycle on this level and all coarser ones.
  struct Way {
    Cut cut;
    double cycle_s = impossible;
  };

  /// The step from a grid to that of the next level.
  struct Step {
    std::size_t grid = 0;
    double chosen = impossible;  ///< seconds of a cycle from the next level on
    std::size_t other_grid = 0;  ///< the best that gathers, if `grid` is kept; else the kept one
    double other = impossible;
  };

  ProcessGrid brick_of(const ProcessGrid& grid) const {
    const CostModel model(machine_, problems_[1], rank_count_of(grid));
    return GridSearch(model).best_placement(grid).brick;
  }

  static int rank_count_of(const ProcessGrid& grid) { return grid[0] * grid[1] * grid[2]; }

  [[nodiscard]] bool is_possible(const Problem& problem, const ProcessGrid& grid) const {
    const std::int64_t limit = problem.memory_limit_bytes;
    return is_allowed(problem, grid) &&
           (limit == 0 || padded_bytes(problem, largest_block(problem, grid)) <= limit);
  }

  void find_ways(std::size_t level) {
    const Problem& problem = problems_[level];
    ways_[level].resize(grids_.size());
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      if (!is_possible(problem, grids_[i])) continue;
      const CostModel model(machine_, problem, rank_count_of(grids_[i]));
      Way& way = ways_[level][i];
      way.cut = GridSearch(model).fastest(grids_[i], bricks_[i]);
      const bool is_last = level + 1 == problems_.size();
      way.cycle_s = steps_ * way.cut.time.step_s() + (is_last ? 0 : step_from(level + 1, i).chosen);
    }
  }

  /// Keeps the grid where the model cannot distinguish both.
  [[nodiscard]] Step step_from(std::size_t level, std::size_t from) const {
    const double kept = ways_[level][from].cycle_s;
    double gathered = impossible;
    std::size_t best = from;
    for (std::size_t to = from + 1; to < grids_.size(); ++to) {
      if (ways_[level][to].cycle_s >= gathered || !divides(grids_[to], grids_[from])) continue;
      const double cycle_s = gather_s(level, from, to) + ways_[level][to].cycle_s;
      if (cycle_s >= gathered) continue;
      gathered = cycle_s;
      best = to;
    }
    if (kept != impossible && kept <= (1 + prediction_tie) * gathered)
      return {.grid = from, .chosen = kept, .other_grid = best, .other = gathered};
    return {.grid = best, .chosen = gathered, .other_grid = from, .other = kept};
  }

  [[nodiscard]] double gather_s(std::size_t level, std::size_t from, std::size_t to) const {
    return gather_seconds(machine_, problems_[level], grids_[from], grids_[to]);
  }

  [[nodiscard]] LevelPlan plan_of(std::size_t level, std::size_t from, const Step& step) const {
    LevelPlan plan;
    plan.level = static_cast<int>(level);
    plan.problem = problems_[level];
    if (ways_[level].front().cycle_s != impossible) plan.kept = ways_[level].front().cut;
    plan.chosen = ways_[level][step.grid].cut;
    plan.is_gathered = step.grid != from;
    plan.gather_s = gather_s(level, from, step.grid);
    if (step.other != impossible) plan.other_longer_s = step.other - step.chosen;
    plan.why = why_of(plan, grids_[from], grids_[step.other_grid]);
    return plan;
  }

  const Machine& machine_;
  const std::vector<Problem>& problems_;
  const double steps_;
  const std::vector<ProcessGrid> grids_;
  std::vector<ProcessGrid> bricks_;     // of each grid, on all levels
  std::vector<std::vector<Way>> ways_;  // by level and grid
};

}  // namespace

Result<void> check(const Problem& problem, const MultigridOptions& options) {
  if (options.level_count < 2 || options.level_count > level_count_max)
    return Error{
        text_of("%d levels; it must be from 2 to %d", options.level_count, level_count_max)};
  if (options.steps < 1 || options.steps > steps_max)
    return Error{text_of("%d steps on a level; it must be from 1 to %d", options.steps, steps_max)};
  if (const Result<void> good = check(problem); !good) return Error{good.error()};
  const Result<std::vector<Problem>> problems = problems_of(problem, options.level_count);
  if (!problems) return Error{problems.error()};
  return {};
}

Result<MultigridPlan> MultigridPlan::choose(const Machine& machine,
                                            const Problem& problem,
                                            int rank_count,
                                            const MultigridOptions& options) {
  if (const Result<void> good = check(problem, options); !good) return Error{good.error()};
  Result<Plan> finest = Plan::choose(machine, problem, rank_count);
  if (!finest) return Error{finest.error()};
  const std::vector<Problem> problems = problems_of(problem, options.level_count).value();

  MultigridPlan plan(std::move(finest).value());
  plan.steps_ = options.steps;
  plan.coarser_ = LevelSearch(machine, problems, plan.finest_, options.steps).levels();
  if (plan.coarser_.empty())
    return Error{
        text_of("a level has too few cells for the cut of the level before, and gathered blocks "
                "exceed the limit of %lld bytes; allow more or use fewer levels",
                static_cast<long long>(problem.memory_limit_bytes))};
  plan.cycle_s_ = options.steps * plan.finest_.time().step_s();
  for (LevelPlan& level : plan.coarser_) {
    const Result<Plan> alone = Plan::choose(machine, level.problem, rank_count);
    if (!alone) return Error{text_of("level %d: %s", level.level, alone.error().c_str())};
    level.best = alone->best();
    plan.cycle_s_ += level.gather_s + options.steps * level.chosen.time.step_s();
  }
  return plan;
}

}  // namespace sorrel::grid
