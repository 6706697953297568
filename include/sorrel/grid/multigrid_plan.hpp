//! MultigridPlan - the cut of each level of a multigrid, and where fewer ranks are faster.
//!
//! Pure, any thread. Each level halves the extents of the level before. A cycle visits each level
//! once. A coarse level keeps the cut of the level before, or its blocks are gathered onto fewer
//! ranks. The model is in src/grid/plan/README.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// The levels of a multigrid, and the work on each.
struct MultigridOptions {
  /// The finest level included; from 2 to level_count_max.
  int level_count = 2;
  /// Steps on each level in a cycle, from 1 to steps_max: sweeps of the smoother.
  int steps = 4;
};

/// Most levels: halving extent_max more often leaves no cell.
inline constexpr int level_count_max = 30;
/// Most steps on a level.
inline constexpr int steps_max = 1'000'000;

/// @param problem the finest level
/// @param options the number of levels and steps
/// @return success, or the error in the grid or in the number of levels or steps, and what is
///   allowed
Result<void> check(const Problem& problem, const MultigridOptions& options);

/// A coarser level: its best cut, the finest level's cut on it, and the recommended cut.
struct LevelPlan {
  int level = 0;    ///< 0 is the finest
  Problem problem;  ///< the grid of this level
  /// The best cut of this level alone, over all ranks that it can use; without what it costs to
  /// move the cells there.
  Cut best;
  /// The finest level's cut on this level, with its pack and overlap chosen for this level. None:
  /// the level has too few cells for it, or its blocks would be thinner than the halo.
  std::optional<Cut> kept;
  /// The cut that makes the cycle shortest.
  Cut chosen;
  /// Whether `chosen` has fewer ranks than the cut of the level before. Each of its blocks consists
  /// of whole blocks of that cut.
  bool is_gathered = false;
  /// Seconds of a cycle to gather the right side, and to return the solution; 0 if not gathered.
  double gather_s = 0;
  /// Seconds by which a cycle is longer if this level is gathered instead of kept, or the reverse;
  /// may be negative if both tie within 2 %. None: the other is not possible.
  std::optional<double> other_longer_s;
  /// The recommendation and its reason, one line.
  std::string why;
};

/// The plan of the finest level, and what each coarser level should do with its cut.
class MultigridPlan {
 public:
  /// Errors: those of check() and of Plan::choose(), no gathered cut within the memory limit.
  ///
  /// @param machine measured, or read from a file (machine_file.hpp)
  /// @param problem the finest level; the extents of all dimensions but those of one cell must be
  ///   even, and more than 2, on each level but the coarsest
  /// @param rank_count from 1 to 1000000
  /// @param options the number of levels, and the steps on each level in a cycle
  /// @return the plans, or one line that states the error and what is allowed
  [[nodiscard]] static Result<MultigridPlan> choose(const Machine& machine,
                                                    const Problem& problem,
                                                    int rank_count,
                                                    const MultigridOptions& options);

  /// @return the plan of the finest level
  [[nodiscard]] const Plan& finest() const { return finest_; }

  /// @return the plans of the other levels, the next coarser one first; `level_count - 1` of them
  [[nodiscard]] const std::vector<LevelPlan>& coarser() const { return coarser_; }

  /// @return the steps on each level in a cycle
  [[nodiscard]] int steps() const { return steps_; }

  /// @return the seconds of a cycle with the recommended cuts: the steps of all levels, and
  /// gathering
  [[nodiscard]] double cycle_s() const { return cycle_s_; }

  /// @return a line about the cycle, then two lines for each coarser level: its cuts, the
  /// recommendation
  [[nodiscard]] std::string text() const;

 private:
  explicit MultigridPlan(Plan finest) : finest_(std::move(finest)) {}

  Plan finest_;
  std::vector<LevelPlan> coarser_;
  int steps_ = 0;
  double cycle_s_ = 0;
};

}  // namespace sorrel::grid
