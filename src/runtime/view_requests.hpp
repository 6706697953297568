//! ViewRequests - requests to look into this process (runtime/view_space.hpp), from the signal's
//! handler to the thread that answers them.
#pragma once

#include <optional>

#include "runtime/view_space.hpp"

namespace sorrel::runtime {

/// Any thread, and signal handlers. A request beyond the first few that wait is dropped: its sender
/// asks again.
void add_view_request(const ViewRequest& request);

/// Any thread, and signal handlers: removes one; nothing if none waits.
[[nodiscard]] std::optional<ViewRequest> take_view_request();

}  // namespace sorrel::runtime
