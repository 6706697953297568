// The text output of a multigrid's plan.
#include "grid/plan/explain_level.hpp"

#include <cmath>

#include "base/text.hpp"
#include "grid/plan/cost_model.hpp"
#include "grid/plan/figures.hpp"

namespace sorrel::grid {
namespace {

std::string ranks_and_grid(const ProcessGrid& grid, const Problem& problem) {
  const int count = grid[0] * grid[1] * grid[2];
  if (count == 1) return "1 rank";
  return text_of("%d ranks (%s)", count, name_of(grid, problem).c_str());
}

// The finest level's cut beside the level's best.
std::string kept_text(const LevelPlan& level, const ProcessGrid& finest) {
  const std::string name = name_of(finest, level.problem);
  if (!level.kept) return text_of("the finest level's %s does not fit", name.c_str());
  if (level.best.grid == finest) return "the finest level's cut is the same";
  const double step_s = level.kept->time.step_s();
  const double over = step_s / level.best.time.step_s() - 1;
  const std::string time = seconds_text(step_s);
  if (std::abs(over) <= prediction_tie)
    return text_of("the finest level's %s takes %s, the same within 2 %%", name.c_str(),
                   time.c_str());
  return text_of(
      "the finest level's %s takes %s, %.0f %% %s", name.c_str(), time.c_str(),
      100 * std::abs(over),
      over < 0 ? "less"
               : text_of("more, by %s", losing_term(level.kept->time, level.best.time)).c_str());
}

}  // namespace

std::string why_of(const LevelPlan& level, const ProcessGrid& before, const ProcessGrid& other) {
  const Problem& problem = level.problem;
  if (level.is_gathered) {
    const std::string line =
        text_of("gather onto %s: ", ranks_and_grid(level.chosen.grid, problem).c_str());
    const std::string moving = seconds_text(level.gather_s);
    if (!level.other_longer_s)
      return line + text_of("this level has too few cells for %s; gathering and return take %s",
                            name_of(before, problem).c_str(), moving.c_str());
    return line + text_of(
                      "a cycle takes %s less than if this level kept %s, although gathering and "
                      "return take %s",
                      seconds_text(*level.other_longer_s).c_str(), name_of(before, problem).c_str(),
                      moving.c_str());
  }
  const std::string line = text_of("keep %s: ", ranks_and_grid(before, problem).c_str());
  if (!level.other_longer_s)
    return line + (before == ProcessGrid{1, 1, 1} ? "there are no fewer ranks"
                                                  : "gathered blocks exceed the memory limit");
  const std::string gathering =
      text_of("gathering onto %s", ranks_and_grid(other, problem).c_str());
  if (*level.other_longer_s < 0)
    return line + gathering +
           " saves less than 2 % from this level on, too little for a prediction";
  return line + gathering +
         text_of(" makes a cycle %s longer", seconds_text(*level.other_longer_s).c_str());
}

std::string MultigridPlan::text() const {
  std::string text =
      text_of("a cycle of %zu levels takes %s, with %d step%s on each level\n", coarser_.size() + 1,
              seconds_text(cycle_s_).c_str(), steps_, steps_ == 1 ? "" : "s");
  for (const LevelPlan& level : coarser_) {
    text += text_of("level %d, %s cells: best cut %s, %s a step; %s\n", level.level,
                    extents_text(level.problem.extents, level.problem).c_str(),
                    name_of(level.best.grid, level.problem).c_str(),
                    seconds_text(level.best.time.step_s()).c_str(),
                    kept_text(level, finest_.grid()).c_str());
    text += "  " + level.why + "\n";
  }
  return text;
}

}  // namespace sorrel::grid
