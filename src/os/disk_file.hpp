//! DiskFile - a file of the file system, read and written at given offsets.
//!
//! Several threads may use one at the same time. Errors are numbers of errno; 0 is success. A call
//! that a signal interrupts is repeated, and so is one that moves a part of the data. Every call
//! blocks its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sorrel::os {

/// A number of bytes that were moved before the end of the file or an error.
struct Moved {
  std::size_t bytes = 0;
  int error = 0;
};

/// `bytes` bytes at `offset` of a file, and in memory.
struct FilePiece {
  std::int64_t offset;
  std::size_t bytes;
  const std::byte* from;
};

/// The bytes [begin, end) of a file.
struct FileRange {
  std::int64_t begin;
  std::int64_t end;
};

class DiskFile {
 public:
  struct OpenMode {
    bool reads = true;
    bool writes = false;
    bool creates = false;
    /// With `creates`: the file must not exist.
    bool is_exclusive = false;
    /// Only a regular file, at once, and no symbolic link: else ENXIO, or ELOOP for a link. A new
    /// file is readable and writable for this user only, whatever the mask. file_owner.hpp checks
    /// the owner, and has texts for these errors.
    bool is_private = false;
  };

  DiskFile() = default;
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  /// A file to be written is also opened for reading if that is allowed, so that it can be mapped.
  [[nodiscard]] int open(const char* path, OpenMode mode);

  [[nodiscard]] int close();

  /// -1: it is not open.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Stops at the end of the file.
  [[nodiscard]] Moved read(void* to, std::size_t bytes, std::int64_t offset) const;

  /// All, or up to an error.
  [[nodiscard]] Moved write(const void* from, std::size_t bytes, std::int64_t offset) const;

  /// Writes short pieces of ascending offsets, in two system calls and by mapped memory. Bytes
  /// between the pieces are neither read nor written, so other processes may write them meanwhile.
  /// False if the file system cannot do that, or there is an error: nothing is promised to be
  /// written, and write() of each piece tells the error.
  [[nodiscard]] bool write_mapped(std::span<const FilePiece> pieces) const;

  [[nodiscard]] int get_size(std::int64_t* bytes) const;
  [[nodiscard]] int set_size(std::int64_t bytes) const;

  /// Reserves the first `bytes` bytes, and makes the file as long.
  [[nodiscard]] int allocate(std::int64_t bytes) const;

  /// Returns when all written data is on the device.
  [[nodiscard]] int sync() const;

  enum class LockKind : std::uint8_t { shared, exclusive };

  /// Locks a range against holders of other DiskFiles, in this process and others. EAGAIN: one of
  /// them has a conflicting lock. The system drops the locks of a process that ends.
  [[nodiscard]] int try_lock(FileRange range, LockKind kind) const;
  [[nodiscard]] int unlock(FileRange range) const;

 private:
  int set_lock(FileRange range, int type) const;

  int descriptor_ = -1;
  bool is_readable_ = false;
  /// The file system keeps mapped memory and written data consistent.
  bool may_map_ = false;
};

/// Deletes a file; errno.
[[nodiscard]] int delete_file(const char* path);

}  // namespace sorrel::os
