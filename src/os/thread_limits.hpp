//! thread_limit - how many threads the system allows; describe_thread_limits, the limits in a form
//! for users: `ulimit -u`, the control group's pids.max, and `ulimit -v` where it is set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sorrel::os {

/// For all processes of the user or the control group; nothing: there is no limit.
[[nodiscard]] std::optional<std::uint64_t> thread_limit();

[[nodiscard]] std::string describe_thread_limits();

}  // namespace sorrel::os
