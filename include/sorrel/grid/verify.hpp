//! verify - times the predictions of a plan.
//!
//! Collective. Steps are those of the model: exchange of ghosts, and an average of the six
//! neighbours for every cell, overlapped as the cut prescribes.
#pragma once

#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// How long verify() and its parts measure.
struct TimingOptions {
  /// Seconds for each cut, approximately; at least two steps are made.
  double seconds = 0.5;
  /// Number of rounds in which several cuts are timed in turn, each with its share of the
  /// seconds.
  int round_count = 4;
};

/// Times steps of one cut. Collective; may suspend. Takes two blocks with their ghosts of memory on
/// each rank, on large pages (see src/grid/measure/large_pages.hpp).
///
/// @param comm has at least as many ranks as the cut
/// @param problem the grid, its stencil, and the width of the halo
/// @param cut which rank has which block, and how it overlaps
/// @param options how long
/// @return the seconds of one step, the least of several batches, the same on every rank; or one
/// line: elements that are not whole doubles, and the errors of Halo::make()
[[nodiscard]] Result<double> time_step(MPI_Comm comm,
                                       const Problem& problem,
                                       const Cut& cut,
                                       const TimingOptions& options);

/// Times several cuts. They take turns, so that slow phases of the machine affect all of
/// them. Collective; may suspend.
///
/// @param comm has at least as many ranks as the largest cut
/// @param problem the grid, its stencil, and the width of the halo
/// @param cuts which are timed in turn
/// @param options how long, and how many rounds
/// @return the seconds of a step for each cut and round, or one line as above
[[nodiscard]] Result<std::vector<std::vector<double>>> time_rounds(MPI_Comm comm,
                                                                   const Problem& problem,
                                                                   std::span<const Cut> cuts,
                                                                   const TimingOptions& options);

/// time_rounds(), summarized. Collective; may suspend.
///
/// @param comm has at least as many ranks as the largest cut
/// @param problem the grid, its stencil, and the width of the halo
/// @param cuts which are timed in turn
/// @param options how long, and how many rounds
/// @return the least seconds of all rounds for each cut, or one line as above
[[nodiscard]] Result<std::vector<double>> time_steps(MPI_Comm comm,
                                                     const Problem& problem,
                                                     std::span<const Cut> cuts,
                                                     const TimingOptions& options);

/// Predicted and measured times of cuts.
struct Verification {
  /// A cut and the seconds of its step.
  struct Timed {
    Cut cut;                ///< with its prediction
    double measured_s = 0;  ///< seconds of one step
  };

  std::vector<Timed> timed;  ///< in the order of the plan, the best first
  /// Additional time of the plan's choice over the fastest timed cut: 0.05 is 5 %.
  double regret = 0;

  /// @param problem that of the plan
  /// @return a line for each cut: predicted, measured
  [[nodiscard]] std::string table(const Problem& problem) const;
};

/// Times the first cuts of a plan. Collective; may suspend.
///
/// @param comm has at least the plan's ranks
/// @param plan the same on all ranks
/// @param count how many cuts are timed
/// @param options how long, and how many rounds
/// @return the times, or one line as of time_step()
[[nodiscard]] Result<Verification> verify(MPI_Comm comm,
                                          const Plan& plan,
                                          int count,
                                          const TimingOptions& options);

}  // namespace sorrel::grid
