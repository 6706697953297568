//! Calls that change an open file or its use: its size, view, atomic mode, pointers, and what is on
//! the device. set_*, preallocate, sync and seek are collective. All may suspend; the caller has
//! checked the arguments.
#pragma once

#include "mpi/io/file.hpp"

namespace sorrel::mpi {

[[nodiscard]] int set_file_size(File& file, std::int64_t bytes);

/// Reserves the space of the first `bytes` bytes; the file does not become shorter.
[[nodiscard]] int preallocate_file(File& file, std::int64_t bytes);

/// Waits for the nonblocking accesses of this rank; resets both file pointers. MPI_ERR_NOT_SAME:
/// etype or data representation differ.
[[nodiscard]] int set_file_view(File& file, const FileView::Arguments& arguments);

[[nodiscard]] int set_file_atomicity(File& file, bool is_atomic);

/// Returns when the data that any member has written is on the device.
[[nodiscard]] int sync_file(File& file);

/// Moves the shared pointer to `etypes`. MPI_ERR_NOT_SAME.
[[nodiscard]] int seek_shared_pointer(File& file, std::int64_t etypes);

/// The offset in the file of the shared pointer.
[[nodiscard]] int find_shared_offset(File& file, std::int64_t* offset);

[[nodiscard]] int find_file_size(File& file, std::int64_t* bytes);

/// The first etype at or behind the end of the file.
[[nodiscard]] int find_end(File& file, std::int64_t* etypes);

}  // namespace sorrel::mpi
