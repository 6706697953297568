//! describe_thread_limits - the limits that prevent the system from starting another thread, in a
//! form for users: `ulimit -u`, the control group's pids.max, and `ulimit -v` where it is set.
#pragma once

#include <string>

namespace sorrel::os {

[[nodiscard]] std::string describe_thread_limits();

}  // namespace sorrel::os
