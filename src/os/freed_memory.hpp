//! Freed memory - makes the C library keep it, so that a program that allocates in every step does
//! not fault its pages in again. Measured: docs/decisions/0009-kept-memory.md.
#pragma once

#include <functional>

namespace sorrel::os {

/// The value of an environment variable, or null.
using VariableLookup = std::function<const char*(const char* name)>;

/// Whether the user has set a threshold of the C library's allocator, which takes precedence.
[[nodiscard]] bool has_allocator_setting(const VariableLookup& lookup);

/// Makes the C library reuse freed blocks of up to 32 MiB instead of returning them to the system,
/// unless the user has set a threshold. Call before any thread starts.
void keep_freed_memory();

}  // namespace sorrel::os
