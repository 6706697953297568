//! Pieces of a file with gaps between them, moved with few system calls.
//!
//! Reads go through the gaps: pieces that lie close together are one read of everything between
//! them. Writes never change a gap, since other ranks may write it meanwhile: pieces that lie close
//! together are stored through mapped memory, or else written one by one.
//! Block the thread; the callers bound the bytes. Any thread.
#pragma once

#include <span>

#include "os/disk_file.hpp"

namespace sorrel::mpi {

/// `bytes` bytes at `offset` of a file, and in memory.
struct ReadPiece {
  std::int64_t offset;
  std::size_t bytes;
  std::byte* to;
};

/// Ascending offsets; overlaps are allowed. Stops at the first piece that the file does not hold
/// entirely; `bytes` counts the pieces before it and its own part.
[[nodiscard]] os::Moved read_pieces(const os::DiskFile& disk, std::span<const ReadPiece> pieces);

/// Ascending offsets without overlaps. After an error some later pieces may have been written.
[[nodiscard]] os::Moved write_pieces(const os::DiskFile& disk,
                                     std::span<const os::FilePiece> pieces);

}  // namespace sorrel::mpi
