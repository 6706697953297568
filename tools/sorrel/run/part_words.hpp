//! PartWords - the arguments of a job of several programs, `-n 2 ./a x : -n 4 ./b y`, divided into
//! parts. Pure.
#pragma once

#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

struct PartWords {
  std::string ranks;  ///< the value of -n; "" if it has none
  Arguments program;  ///< the program and its arguments
};

/// `words`: the first program, its arguments, and the parts that follow, each after a ':'. The
/// first part has the ranks that the caller knows. A part after the first may have the option -n
/// only, because all others concern the whole job.
[[nodiscard]] Result<std::vector<PartWords>> split_parts(Arguments words, const std::string& ranks);

}  // namespace sorrel::tool
