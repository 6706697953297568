//! The ways to run a program that `sorrel try` compares. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/machine/other_mpi.hpp"
#include "tools/sorrel/try/trial.hpp"

namespace sorrel::tool {

/// What is to be tried, and where.
struct TrialSubject {
  std::string sorrel = {};                ///< the path of this command
  std::vector<std::string> program = {};  ///< with its arguments
  std::uint64_t cores = 1;
  std::vector<std::uint64_t> rank_counts = {};  ///< ascending
  std::vector<OtherMpi> mpis = {};              ///< those that can run the program
  bool is_standard = false;                     ///< linked with the standard interface
  bool is_python = false;
  bool uses_openmp = false;
};

/// 1, 2, 4, 8 and 16 ranks a core.
[[nodiscard]] std::vector<std::uint64_t> usual_rank_counts(std::uint64_t cores);

/// The MPIs of `found` whose interface the program is linked with; all of them for an interpreter,
/// which opens one while it runs.
[[nodiscard]] std::vector<OtherMpi> mpis_for(const ProgramReport& program,
                                             const std::vector<OtherMpi>& found);

/// Sorrel with each number of ranks, and the other MPIs with the least.
[[nodiscard]] std::vector<TrialSetup> first_setups(const TrialSubject& subject);

/// For the best number of ranks: processes, balance, OpenMP; and the other MPIs, if that is not the
/// least.
[[nodiscard]] std::vector<TrialSetup> further_setups(const TrialSubject& subject,
                                                     std::uint64_t ranks);

}  // namespace sorrel::tool
