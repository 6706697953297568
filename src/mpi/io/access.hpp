//! Accesses of one rank to a file: through its view, in the representation of the view, and in
//! atomic mode alone.
//!
//! Owner's worker, in a fiber of the rank. May suspend: data is moved in parts of 1 MiB, and other
//! ranks of the worker run in between. The caller has checked mode, datatype and count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/collectives/collectives.hpp"
#include "mpi/io/file.hpp"

namespace sorrel::mpi {

/// The longest part of an access that blocks the worker.
inline constexpr std::size_t part_bytes_max = std::size_t{1} << 20;

struct FileAccess {
  bool is_write;
  /// In data bytes of the view.
  std::uint64_t position;
  TypedBuffer buffer;

  [[nodiscard]] std::uint64_t end() const { return position + buffer.bytes(); }
};

/// Bytes that `bytes` bytes of a buffer are in the file: MPI_ERR_TYPE if they are no whole etypes.
[[nodiscard]] int find_file_bytes(File& file, const TypedBuffer& buffer, std::size_t* bytes);

/// The data of an access as it is in the file: the program's buffer, or a converted copy.
class FileData {
 public:
  /// `user`: of the program. Converts what is to be written.
  [[nodiscard]] int prepare(File& file, const FileAccess& user);

  /// The access to bytes in the file; after prepare().
  [[nodiscard]] const FileAccess& access() const { return access_; }

  /// After `file_bytes` bytes have been moved: converts what was read. *memory_bytes: of the
  /// program's data.
  [[nodiscard]] int finish(File& file, std::size_t file_bytes, std::size_t* memory_bytes);

 private:
  FileAccess user_{};
  FileAccess access_{};
  std::unique_ptr<std::byte[]> converted_;
};

/// Moves bytes of the file, without conversion; *moved is less at the end of the file, or after an
/// error.
[[nodiscard]] int move_alone(File& file, const FileAccess& access, std::size_t* moved);

/// An access of one rank. *moved: bytes of the program's data.
[[nodiscard]] int access_alone(File& file, const FileAccess& access, std::size_t* moved);

/// Copies a part of a buffer's data to `out`, or from `in`.
void take_from_buffer(const TypedBuffer& buffer, std::size_t at, std::size_t bytes, std::byte* out);
void put_into_buffer(const TypedBuffer& buffer,
                     std::size_t at,
                     std::size_t bytes,
                     const std::byte* in);

/// The members of a file at the begin of a collective call of this kind.
[[nodiscard]] Member begin_collective(File& file, CollectiveKind kind);

/// Called between two parts of a long access.
void let_other_ranks_run(RankState& self);

/// Calls `operation` on a thread of its own while the worker runs other ranks: for calls of the
/// system whose time has no bound. Returns its result. May suspend.
[[nodiscard]] int call_beside(RankState& self, int (*operation)(void* argument), void* argument);

}  // namespace sorrel::mpi
