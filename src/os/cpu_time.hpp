//! Processor time of other processes, and of threads by their number. Any thread, and signal
//! handlers.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace sorrel::os {

/// Processor time of a process of this machine, in nanoseconds; nothing if it has ended.
[[nodiscard]] std::optional<std::int64_t> cpu_ns_of_process(pid_t process);

/// Processor time of a thread of this process, in nanoseconds; nothing if it has ended.
[[nodiscard]] std::optional<std::int64_t> cpu_ns_of_thread(pid_t thread);

}  // namespace sorrel::os
