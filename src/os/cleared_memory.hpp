//! Cleared memory - private memory that is as if it had never been written.
#pragma once

#include <cstddef>

namespace sorrel::os {

/// Gives the pages of private anonymous memory back: they read as zero. Those that the program has
/// locked stay, and are cleared. Pages of a file read as the file does, or, locked, as zero. Whole
/// pages; keeps errno. Any thread.
void clear_memory(void* begin, std::size_t bytes);

}  // namespace sorrel::os
