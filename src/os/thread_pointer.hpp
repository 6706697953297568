//! The register that holds the address of a thread's control block, on processors and kernels that
//! have no instruction to write it; and whether threads exchange their blocks. Any thread.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Whether the processor writes the register by an instruction (arch/cpu.hpp): on x86_64 FSGSBASE.
[[nodiscard]] bool can_write_thread_pointer();

/// Writes the register by a system call, on processors that have one for it.
void set_thread_pointer(std::uintptr_t value);

/// What threads of this process do with their control blocks. The C library reaches each thread by
/// its block when it changes the identity of the process (setuid), and waits for ever for a thread
/// that has another one: so a process does one of both, for good.
enum class BlockUse : std::uint8_t {
  undecided,
  exchanged,     ///< Threads run with blocks of other threads.
  by_identities  ///< Each has its own, and the identity may change.
};

/// False: the process has decided for the other use.
[[nodiscard]] bool claim_blocks(BlockUse use);

}  // namespace sorrel::os
