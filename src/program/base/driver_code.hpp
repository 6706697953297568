//! Driver code - where the libraries of a device's driver lie in memory (libcuda.so.1 and what it
//! loads).
//!
//! All ranks of a process share them. A driver may hold locks while it calls the C library: such a
//! call must not suspend the rank on whose stack it is made, and what it starts belongs to no rank.
//! Any thread. Without such libraries a test is one load and one branch.
#pragma once

#include <cstdint>

namespace sorrel::program {

/// Whether a range was added.
[[nodiscard]] bool has_driver_code();

/// Whether `code` lies in a range that was added.
[[nodiscard]] bool is_driver_code(const void* code);

/// Whether `code`, a caller's return address, is not the program's: it lies in this library, or in
/// a driver, whose calls concern all ranks. Such a call never suspends.
[[nodiscard]] bool is_of_process(const void* code);

/// Adds the range, once, as long as there are fewer than 32. Not from several threads at once.
void add_driver_code(std::uintptr_t begin, std::uintptr_t end);

/// In process mode: `hook` is called before the program opens a driver's library. Set once, before
/// threads are there.
void set_driver_hook(void (*hook)());

/// Calls the hook, if one is set.
void call_driver_hook();

}  // namespace sorrel::program
