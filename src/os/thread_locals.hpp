//! Bytes of each thread's stack for the thread-locals of the program and the libraries loaded with
//! it. pthread_create() subtracts them from the requested stack size, and fails if they do not fit.
//! Any thread may call; takes about a microsecond.
#pragma once

#include <cstddef>
#include <link.h>

namespace sorrel::os {

using IterateFiles = int (*)(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

/// An upper bound: the thread-locals of libraries that were loaded later are elsewhere. `iterate`
/// replaces the process's own dl_iterate_phdr().
[[nodiscard]] std::size_t thread_local_bytes(IterateFiles iterate = dl_iterate_phdr);

}  // namespace sorrel::os
