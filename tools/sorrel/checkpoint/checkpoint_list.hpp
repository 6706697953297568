//! checkpoint_list - what is in a folder of checkpoints, for `sorrel restart --list`.
#pragma once

#include <string>

#include "checkpoint/generations.hpp"
#include "tools/sorrel/checkpoint/job_file.hpp"

namespace sorrel::tool {

/// The job, and a line for each checkpoint, the newest first: when it was written, its processes,
/// its size, and whether a restart can begin with it. Reads every byte, and changes nothing.
[[nodiscard]] std::string list_of(const checkpoint::Generations& generations, const JobFile& job);

}  // namespace sorrel::tool
