//! ViewRequests - requests to look into this process (report/view_space.hpp), from the signal's
//! handler to the thread that answers them.
#pragma once

#include <optional>

#include "report/view_space.hpp"

namespace sorrel::runtime {

/// Any thread, and signal handlers. A request beyond the first few that wait is dropped: its sender
/// asks again.
void add_view_request(const report::ViewRequest& request);

/// Any thread, and signal handlers: removes one; nothing if none waits.
[[nodiscard]] std::optional<report::ViewRequest> take_view_request();

}  // namespace sorrel::runtime
