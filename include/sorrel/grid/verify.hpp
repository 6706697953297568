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

/// Seconds of one step, the least of several batches; the same on every rank. May suspend. Takes
/// two blocks with their ghosts of memory on each rank, on large pages (see
/// src/grid/measure/large_pages.hpp). Errors: elements that are not whole doubles, and those of
/// Halo::make().
[[nodiscard]] Result<double> time_step(MPI_Comm comm,
                                       const Problem& problem,
                                       const Cut& cut,
                                       const TimingOptions& options);

/// The same for several cuts, for each round. They take turns, so that slow phases of the
/// machine affect all of them.
[[nodiscard]] Result<std::vector<std::vector<double>>> time_rounds(MPI_Comm comm,
                                                                   const Problem& problem,
                                                                   std::span<const Cut> cuts,
                                                                   const TimingOptions& options);

/// The least of all rounds for each cut.
[[nodiscard]] Result<std::vector<double>> time_steps(MPI_Comm comm,
                                                     const Problem& problem,
                                                     std::span<const Cut> cuts,
                                                     const TimingOptions& options);

/// Predicted and measured times of cuts.
struct Verification {
  /// A cut and the seconds of its step.
  struct Timed {
    Cut cut;
    double measured_s = 0;
  };

  std::vector<Timed> timed;  ///< in the order of the plan, the best first
  /// Additional time of the plan's choice over the fastest timed cut: 0.05 is 5 %.
  double regret = 0;

  /// A line for each: predicted, measured.
  [[nodiscard]] std::string table(const Problem& problem) const;
};

/// Times the first `count` cuts of a plan. `comm` has at least the plan's ranks.
[[nodiscard]] Result<Verification> verify(MPI_Comm comm,
                                          const Plan& plan,
                                          int count,
                                          const TimingOptions& options);

}  // namespace sorrel::grid
