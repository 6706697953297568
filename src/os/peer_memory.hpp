//! Peer memory - reading and writing another process's memory (process_vm_readv,
//! process_vm_writev), where the system allows it.
//!
//! Any thread may call. The system requires the same user. Under Yama's ptrace_scope 1 the reader
//! must also descend from the process that the other process has named: let_descendants_read().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

#include "os/touched_pages.hpp"

namespace sorrel::os {

/// Lets the process `ancestor` and all its descendants read this process's memory, where a security
/// module requires that. No effect elsewhere.
void let_descendants_read(pid_t ancestor);

/// Copies `bytes` from address `source` of process `pid`. Returns false if that process has ended,
/// the address is not mapped there, or the system forbids it; then part of the target may be
/// written.
[[nodiscard]] bool read_peer_memory(pid_t pid,
                                    void* target,
                                    std::uintptr_t source,
                                    std::size_t bytes);

/// Copies ranges that are not empty, each to its own address here. False as above.
[[nodiscard]] bool read_equal_memory(pid_t pid, std::span<const MemoryRange> ranges);

/// Copies at most `piece_count_max` pieces, one behind the other, to `target`. False as above.
inline constexpr std::size_t piece_count_max = 512;
[[nodiscard]] bool read_peer_pieces(pid_t pid, void* target, std::span<const MemoryRange> pieces);

/// The reverse: from `source` here to address `target` there.
[[nodiscard]] bool write_peer_memory(pid_t pid,
                                     std::uintptr_t target,
                                     const void* source,
                                     std::size_t bytes);

}  // namespace sorrel::os
