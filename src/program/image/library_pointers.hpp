//! LibraryPointers - whether a library that all ranks of a process share keeps addresses of a
//! rank's memory: of what it has allocated while the rank called it, or has been told by the rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "os/touched_pages.hpp"
#include "program/image/image.hpp"

namespace sorrel::program {

/// A word of a library, and the address that it holds.
struct KeptAddress {
  std::string library;
  /// Where the word is: in the file's own addresses, or among its thread-locals.
  std::uintptr_t offset = 0;
  bool is_thread_local = false;
  std::uintptr_t address = 0;
};

/// The first word of a shared library, but for this one, that holds an address of `ranges`.
/// Examines all writable words of the libraries, and their thread-locals in the thread control
/// block of `thread_pointer`. The list of streams (base/stream_list.hpp) is left out. Private
/// libraries of the image are left out. A number that equals an address is taken for one. While no
/// rank runs.
[[nodiscard]] std::optional<KeptAddress> find_kept_address(const Image& image,
                                                           std::uintptr_t thread_pointer,
                                                           std::span<const os::MemoryRange> ranges);

}  // namespace sorrel::program
