//! Shared page - some zeroed bytes that all processes of one user on this machine see.
//!
//! In /dev/shm, mode 0600, one name per user and process-number namespace (a container that shares
//! /dev/shm but numbers its processes anew gets another page). It stays when its last user ends:
//! a file of a few KiB. A file of that name that belongs to another user, is open to others or is
//! not a regular one is not used. All memory of the file is allocated before it is mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sorrel::os {

struct SharedPage {
  void* base = nullptr;  ///< never unmapped; null: not possible, or not safe
  std::string trouble;   ///< then: one line, which names the file and the reason
};

/// Maps the page `name` of this user, made if it is not there. If the file is truncated later the
/// process goes on with private memory in its place (lost_page.hpp).
[[nodiscard]] SharedPage map_shared_page(const char* name, std::size_t bytes);

/// A number that tells this process from every other one of this machine, dead ones included: the
/// process number and its time of start.
[[nodiscard]] std::uint64_t own_process_identity();

/// Whether the process of this identity still lives. One that has ended does not, also while its
/// parent has not asked for its exit status.
[[nodiscard]] bool is_process_alive(std::uint64_t identity);

/// Whether the system does not know the process's number any more: surely dead, at the cost of one
/// system call.
[[nodiscard]] bool is_process_gone(std::uint64_t identity);

}  // namespace sorrel::os
