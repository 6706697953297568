//! Children - what a process that is the reaper of its descendants has left to end.
#pragma once

#include <sys/types.h>
#include <vector>

namespace sorrel::tool {

/// The children that this process has now: its own, and what they left behind.
[[nodiscard]] std::vector<pid_t> children();

/// Kills them all, and what they leave behind in turn.
void end_children();

}  // namespace sorrel::tool
