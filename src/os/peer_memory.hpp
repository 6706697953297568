//! Peer memory - reading and writing another process's memory (process_vm_readv,
//! process_vm_writev), where the system allows it.
//!
//! Any thread may call. The system asks for the same user and, under Yama's ptrace_scope 1, for the
//! reader to descend from whom the other process has named: let_descendants_read().
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sorrel::os {

/// Lets the process `ancestor` and all that it has started read this process's memory, where a
/// security module asks for that. Harmless elsewhere.
void let_descendants_read(pid_t ancestor);

/// Copies `bytes` from address `source` of process `pid`. False when that process is gone, the
/// address is none of its, or the system forbids it; the target may have been written in part.
[[nodiscard]] bool read_peer_memory(pid_t pid,
                                    void* target,
                                    std::uintptr_t source,
                                    std::size_t bytes);

/// The other way round: from `source` here to address `target` there.
[[nodiscard]] bool write_peer_memory(pid_t pid,
                                     std::uintptr_t target,
                                     const void* source,
                                     std::size_t bytes);

}  // namespace sorrel::os
