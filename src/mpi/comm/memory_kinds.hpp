//! Memory allocation kinds - which memory the buffers of a program may be in (MPI 5.0, 11.4.3, and
//! the MPI Forum's "Memory Allocation Kinds" 1.0): values of the info keys mpi_memory_alloc_kinds
//! and mpi_assert_memory_alloc_kinds.
//!
//! A value is a list of kinds, separated by commas; each may be followed by restrictors, each
//! behind a colon, as in "system,cuda:device". Case does not matter. Pure, any thread.
#pragma once

#include <string_view>

namespace sorrel::mpi {

inline constexpr const char* memory_kinds_key = "mpi_memory_alloc_kinds";
inline constexpr const char* asserted_memory_kinds_key = "mpi_assert_memory_alloc_kinds";

/// All kinds that buffers may have. `has_cuda`: also in the memory of CUDA devices.
[[nodiscard]] const char* supported_memory_kinds(bool has_cuda);

/// Whether each kind of the list is one of these. An empty list has no kinds.
[[nodiscard]] bool are_memory_kinds_supported(std::string_view list, bool has_cuda);

}  // namespace sorrel::mpi
