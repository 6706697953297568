//! Children - the child processes of this process, which is the reaper of its descendants.
#pragma once

#include <sys/types.h>
#include <vector>

namespace sorrel::tool {

/// The current children of a process; of this one: its own, and orphans of these.
[[nodiscard]] std::vector<pid_t> children(pid_t parent);

/// Kills all children, and the orphans that they leave.
void end_children();

}  // namespace sorrel::tool
