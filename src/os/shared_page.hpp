//! Shared page - some zeroed bytes that all processes of one user on this machine see.
//!
//! In /dev/shm, mode 0600, one name per user and process-number namespace (a container that shares
//! /dev/shm but numbers its processes anew gets another page). It stays when its last user ends:
//! a file of a few KiB. What lies there under our name but belongs to somebody else, or is open to
//! others, is not used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

/// Maps the page `name` of this user, made if it is not there. Null when that is not possible or
/// not safe. Never unmapped.
void* map_shared_page(const char* name, std::size_t bytes);

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
