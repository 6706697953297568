//! Split job - processes that a launcher has started as one job, and of which each would be a job
//! of its own: without `sorrel run`, or below a launcher that gives it no way to find the others.
#pragma once

#include <functional>
#include <string>

namespace sorrel::launch {

/// The value of an environment variable, or null if it is not set.
using Environment = std::function<const char*(const char*)>;

struct Launched {
  /// As "Open MPI's mpirun has started 4 processes"; "": one, or none that a launcher has started.
  std::string text;
  bool is_first = true;
};

/// What mpirun of Open MPI, mpiexec of MPICH and srun leave in the environment. What a rank of
/// Sorrel starts is no process of theirs. Pure.
[[nodiscard]] Launched launched_in(const Environment& environment);

/// What srun alone leaves there, where it offers no PMI. Pure.
[[nodiscard]] Launched tasks_without_pmi(const Environment& environment);

}  // namespace sorrel::launch
