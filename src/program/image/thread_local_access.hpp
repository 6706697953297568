//! Thread-local variables of libraries that ranks open, if they hold pointers.
//!
//! The loader fills each thread's variables from the template image, whenever the thread first uses
//! them: a pointer there leads into the template image. Such libraries call
//! thread_local_address() instead of __tls_get_addr(). It replaces the pointers that lead into the
//! template image by those of the calling rank's image.
#pragma once

#include <cstddef>

namespace sorrel::program {

/// The argument of __tls_get_addr().
struct ThreadLocalIndex {
  std::size_t module;
  std::size_t offset;
};

/// As __tls_get_addr(), for code of a library's private instance. Any thread.
[[nodiscard]] void* thread_local_address(ThreadLocalIndex* index);

}  // namespace sorrel::program
