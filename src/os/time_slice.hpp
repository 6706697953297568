//! Time slice - how long a thread runs at a time when others want its core.
//!
//! Long slices cost the others nothing but patience: the kernel divides the core as evenly as
//! before, but changes over less often, and each change costs whoever comes the contents of the
//! core's cache. Known to Linux since 6.12; threads and processes started later have their maker's
//! slice. Any thread may call.
#pragma once

#include <cstdint>
#include <optional>

namespace sorrel::os {

/// Of thread `thread` of this process, in nanoseconds; nothing if the kernel does not tell, or the
/// thread is scheduled in another way than by slices.
[[nodiscard]] std::optional<std::int64_t> time_slice(int thread);

/// Asks for slices of `slice_ns` (the kernel takes 0.1 to 100 ms), and leaves everything else about
/// the thread as it is. False when the kernel refuses, or does not know slices.
bool set_time_slice(int thread, std::int64_t slice_ns);

}  // namespace sorrel::os
