//! Translation of other MPIs' launcher options (MPICH's mpiexec, Open MPI's mpirun) into those of
//! `sorrel run`.
//!
//! Pure: reads arguments, decides nothing about the machine. Options that have no meaning on one
//! machine are collected in `ignored`. Unknown options are passed on; `run` reports them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

struct Translation {
  std::vector<std::string> options;  ///< for `sorrel run`
  Arguments program;                 ///< the first program and its arguments
  /// The other programs of the job: for each a ':', options, "--", the program and its arguments.
  std::vector<std::string> further;
  std::vector<std::pair<std::string, std::string>>
      variables;                     ///< to set in the program's environment
  std::string folder;                ///< to change to first, or ""
  std::vector<std::string> ignored;  ///< options without meaning here
  bool wants_version = false;
  std::string error;  ///< why it cannot be translated, or ""
};

[[nodiscard]] Translation translate_mpiexec(Arguments arguments);

}  // namespace sorrel::tool
