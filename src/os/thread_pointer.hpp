//! The register that holds the address of a thread's control block, on processors and kernels that
//! have no instruction to write it. Any thread.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Whether the processor writes the register by an instruction (arch/cpu.hpp): on x86_64 FSGSBASE.
[[nodiscard]] bool can_write_thread_pointer();

/// Writes the register by a system call, on processors that have one for it.
void set_thread_pointer(std::uintptr_t value);

/// A thread goes on with another control block than that with which it will end. Stays true.
void note_thread_without_block();
[[nodiscard]] bool are_threads_without_block();

}  // namespace sorrel::os
