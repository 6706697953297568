//! Time slice - how long a thread runs at a time when other threads compete for its core.
//!
//! Long slices delay the competing threads but cost them no CPU time. The kernel divides the core
//! as evenly as before, but switches less often, and each switch costs the incoming thread the
//! contents of the core's cache. Linux 6.12 and later; new threads and processes inherit the slice
//! of their creator. Any thread may call.
#pragma once

#include <cstdint>
#include <optional>

namespace sorrel::os {

/// The slice of thread `thread` of this process, in nanoseconds; nothing if the kernel has none, or
/// the thread has a scheduling policy without slices.
[[nodiscard]] std::optional<std::int64_t> time_slice(int thread);

/// Requests slices of `slice_ns` (the kernel accepts 0.1 to 100 ms); keeps all other scheduling
/// attributes. Returns false if the kernel rejects the value, or does not support slices.
bool set_time_slice(int thread, std::int64_t slice_ns);

}  // namespace sorrel::os
