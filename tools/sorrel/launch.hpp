//! Launch - starts the processes of a job of several, stays as their parent, and sees that none
//! outlives the others.
//!
//! The processes share a nameless segment of memory (os/shared_segment.hpp). Each is killed by the
//! system when this one dies, whatever of. A process killed by a signal, or one that ends the job
//! (core/job_memory.hpp), ends all; signals to this process go on to them. Returns when the last
//! has gone, and whatever they have left behind. Below a wrapper the program is not our child: its
//! claim on the job (runtime/job_claims.hpp) tells whether it has started and whether it is alive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/job_memory.hpp"

namespace sorrel::tool {

struct LaunchPlan {
  std::uint64_t rank_count = 1;
  core::JobShape shape;
  /// Every rank is a process, and each line of its output is to begin with it.
  bool label_lines = false;
  std::string program;  ///< path
  char* const* words = nullptr;
  /// Name of a program that only starts the one with MPI, as env does; "" if there is none. It may
  /// end before or after that one, and may start none.
  std::string wrapper;
  /// The words of the wrapper name a program with MPI.
  bool is_mpi_seen = false;
  /// In the child, before the program is executed: what process `index` finds in its environment.
  /// `claims_descriptor` is that of runtime::JobClaims, -1 without a wrapper.
  std::function<void(std::uint32_t index, int segment_descriptor, int claims_descriptor)>
      set_environment;
};

/// The exit status of the job: the worst of its processes', or of whoever ended it.
[[nodiscard]] int launch(const LaunchPlan& plan);

/// "rank 7" or "ranks 16-23": those of process `index`.
[[nodiscard]] std::string ranks_of_process(const LaunchPlan& plan, std::uint32_t index);

}  // namespace sorrel::tool
