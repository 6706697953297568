//! Context - the registers of a suspended flow of control, saved on its own stack.
//!
//! sorrel_switch_context() saves the callee-saved registers and the floating-point control words of
//! the caller and loads those of another context: about twenty instructions (context_x86_64.S,
//! context_aarch64.S). It saves no signal mask, no errno and no thread-local: core/fiber.hpp does.
//! Any thread may resume a context, one at a time.
#pragma once

#include <cstddef>

namespace sorrel::arch {

/// A suspended context: the stack pointer, which points to the registers. Null while it runs.
using Context = void*;

/// Function that a new context calls, on its own stack. Must never return.
using ContextEntry = void (*)(void* argument);

/// Builds a context that will call entry(argument) when first switched to.
/// stack_bottom: lowest address; stack_bytes >= 4096. The caller keeps the stack alive.
Context make_context(void* stack_bottom,
                     std::size_t stack_bytes,
                     ContextEntry entry,
                     void* argument);

/// Saves the caller into *save and continues `load`. Returns when something switches back to *save.
extern "C" void sorrel_switch_context(Context* save, Context load);

}  // namespace sorrel::arch
