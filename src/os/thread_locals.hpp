//! How many bytes the C library lays into the stack of each thread for the thread-locals of what
//! was loaded with the program. pthread_create() takes them from the size that it is asked for, and
//! refuses a thread that they do not fit. Any thread may ask; takes about a microsecond.
#pragma once

#include <cstddef>
#include <link.h>

namespace sorrel::os {

using IterateFiles = int (*)(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

/// An upper bound: the thread-locals of libraries that were loaded later are elsewhere. `iterate`:
/// who knows what is loaded, if that is not the process's own function.
[[nodiscard]] std::size_t thread_local_bytes(IterateFiles iterate = dl_iterate_phdr);

}  // namespace sorrel::os
