//! run_job - `sorrel run`, for the command itself and for those that start a job as it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/run/equal_process.hpp"

namespace sorrel::tool {

/// A job that begins with a checkpoint.
struct Restart {
  std::string folder;
  /// The descriptor of lock_folder().
  std::optional<int> lock;
  /// The file of the user's key; "": there is none.
  std::string key;
  std::uint64_t generation = 0;
  RandomBytes random{};
  /// Take the place of the same options of the job.
  std::vector<std::string> options;
};

/// `arguments`: those of `sorrel run`. `restart`: null for a job that begins.
int run_job(Arguments arguments, const Restart* restart);

}  // namespace sorrel::tool
