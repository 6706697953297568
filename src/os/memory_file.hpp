//! MemoryFile - a file in memory without a name, which exists as long as a process has it open.
#pragma once

namespace sorrel::os {

/// An empty one, which survives exec; -1 with errno: an error.
[[nodiscard]] int make_memory_file();

/// Makes it empty, and gives its memory back; errno.
[[nodiscard]] int clear_memory_file(int descriptor);

/// Programs that this process executes do not get the descriptor.
void keep_from_programs(int descriptor);

}  // namespace sorrel::os
