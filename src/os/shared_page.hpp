//! Shared page - some zeroed bytes that all processes of one user on this machine share.
//!
//! In /dev/shm, mode 0600, one name per user and PID namespace (a container that shares /dev/shm
//! but has its own PID namespace gets another page). The page stays when its last user ends: a file
//! of a few KiB. A file of that name is not used if it belongs to another user, is accessible to
//! other users or is not a regular file. All memory of the file is allocated before it is mapped.
//!
//! In a folder of all users (user_pages.hpp) the mode is 0644.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sorrel::os {

struct SharedPage {
  void* base = nullptr;  ///< never unmapped; null: not possible, or not safe
  std::string error;     ///< then: one line, with the file and the reason
};

/// Where a page lies, and which users can read it.
struct PagePlace {
  const char* folder = "/dev/shm";
  bool is_readable_by_all = false;
};

/// Maps the page `name` of this user; creates it if it does not exist. If the file is truncated
/// later, private memory replaces it (lost_page.hpp).
[[nodiscard]] SharedPage map_shared_page(const char* name,
                                         std::size_t bytes,
                                         const PagePlace& place = {});

/// The end of the names of all pages of this PID namespace.
[[nodiscard]] std::string process_namespace_text();

/// A number that distinguishes this process from every other process of this machine, ended ones
/// included: the process number and the start time.
[[nodiscard]] std::uint64_t own_process_identity();

/// Whether the process of this identity runs. A process that has ended does not, even while its
/// parent has not reaped it.
[[nodiscard]] bool is_process_alive(std::uint64_t identity);

/// Whether the system has no process of this number any more, so that the process is certainly
/// dead. Costs one system call.
[[nodiscard]] bool is_process_gone(std::uint64_t identity);

}  // namespace sorrel::os
