//! StackFault - whether a memory fault of a rank is an overflow of its stack, decided by its stack
//! pointer.
//!
//! The address alone does not decide: the guards lie between the stacks, and a wild pointer reaches
//! them as well as a large frame. Safe in a signal handler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/stack_slab.hpp"

namespace sorrel::runtime {

enum class StackFault : std::uint8_t {
  none,             ///< The address concerns no stack.
  overflow,         ///< The stack pointer has left the rank's stack, or is at its end.
  wild_into_guard,  ///< The address lies in a guard, the stack pointer well inside its stack.
};

struct Fault {
  const void* address = nullptr;
  const void* stack_pointer = nullptr;
  /// Whether the page of the stack pointer can be used.
  bool is_pointer_mapped = true;
};

/// `index` is the running rank's stack.
[[nodiscard]] StackFault classify_fault(const os::StackSlab& stacks,
                                        std::size_t index,
                                        const Fault& fault);

/// The distance of the stack pointer from the stack's lowest address, 0 if below.
[[nodiscard]] std::size_t bytes_left(const os::StackSlab& stacks,
                                     std::size_t index,
                                     const void* stack_pointer);

}  // namespace sorrel::runtime
