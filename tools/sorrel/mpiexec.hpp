//! Translation of other MPIs' launcher options (MPICH's mpiexec, Open MPI's mpirun) into those of
//! `sorrel run`.
//!
//! Pure: reads words, decides nothing about the machine. Options that can have no meaning on one
//! machine are gathered in `ignored`; unknown ones are passed on, for `run` to refuse.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sorrel/command.hpp"

namespace sorrel::tool {

struct Translation {
  std::vector<std::string> options;  ///< for `sorrel run`
  Arguments program;                 ///< the program and its words
  std::vector<std::pair<std::string, std::string>>
      variables;                     ///< to set in the program's environment
  std::string folder;                ///< to change to first, or ""
  std::vector<std::string> ignored;  ///< options that were left out
  bool wants_version = false;
  std::string problem;  ///< why it cannot be translated, or ""
};

[[nodiscard]] Translation translate_mpiexec(Arguments arguments);

}  // namespace sorrel::tool
