//! Children - the child processes of this process, which is the reaper of its descendants.
#pragma once

#include <sys/types.h>
#include <vector>

namespace sorrel::tool {

/// The current children of this process: its own, and orphans of these.
[[nodiscard]] std::vector<pid_t> children();

/// Kills all children, and the orphans that they leave.
void end_children();

}  // namespace sorrel::tool
