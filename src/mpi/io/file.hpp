//! File - what the members of an open file share in a process (FileShared), and each member's own
//! view of it (File), which an MPI_File handle points to.
//!
//! A File belongs to one rank, whose worker alone changes it; in a collective access, workers of
//! other members read its view. README.md has the protocols.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/info.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/view.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/disk_file.hpp"

namespace sorrel::mpi {

struct Win;

class FileShared {
 public:
  FileShared(std::string name, std::int32_t holder_count)
      : path(std::move(name)), holder_count_(holder_count) {}

  FileShared(const FileShared&) = delete;
  FileShared& operator=(const FileShared&) = delete;

  /// Deletes it with the last reference.
  void release() {
    // Release and acquire: the accesses of all holders come before the end.
    if (holder_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Any thread.
  os::DiskFile disk;
  const std::string path;
  /// The shared file pointer, in etypes, if all members are in this process. Relaxed: no data is
  /// read through it.
  std::atomic<std::int64_t> shared_position{0};
  /// Held by a member of this process during an access in atomic mode.
  std::atomic<bool> is_locked{false};

 private:
  ~FileShared() = default;

  std::atomic<std::int32_t> holder_count_;
};

/// The collective access that MPI_File_*_begin has started and _end has still to end.
struct SplitAccess {
  /// The function that has started it, without _begin; "": none.
  std::string_view begun;
  /// The result, with which _end returns.
  std::size_t moved_bytes = 0;
};

struct File : HandleObject<ObjectType::file> {
  static constexpr ObjectKind object_kind = ObjectKind::file;

  File(RankState& self, Comm& own_comm, FileShared& all, int access_mode);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool may_read() const { return (amode & MPI_MODE_WRONLY) == 0; }

  [[nodiscard]] bool may_write() const { return (amode & MPI_MODE_RDONLY) == 0; }

  /// Etypes that `bytes` bytes of data in the file are; a part counts as one.
  [[nodiscard]] std::int64_t etypes_in(std::uint64_t bytes) const {
    return static_cast<std::int64_t>((bytes + view.etype_bytes() - 1) / view.etype_bytes());
  }

  ObjectHeader header{object_kind};
  RankState* const owner;
  FileShared* const shared;
  /// A duplicate of the communicator that the file was opened on.
  Comm* const comm;
  /// Holds the shared file pointer if the members live in several processes, else null.
  Win* pointer_window = nullptr;
  const int amode;
  bool is_atomic = false;
  FileView view;
  /// The individual file pointer, in etypes.
  std::int64_t position = 0;
  SplitAccess split;
  /// Nonblocking accesses that have not ended.
  std::int32_t outstanding_count = 0;
  Errhandler* errhandler;
  /// As the program gave them, and what follows from them.
  Info info;
  FileHints hints;
};

/// The file of a handle, null if invalid.
inline File* file_of(MPI_File handle) {
  return object_of<File>(handle);
}

inline MPI_File handle_of(File& file) {
  return reinterpret_cast<MPI_File>(&file);
}

}  // namespace sorrel::mpi
