#include "mpi/io/access.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "mpi/datatype/copy.hpp"
#include "mpi/io/atomic_lock.hpp"
#include "mpi/io/disk_error.hpp"
#include "mpi/io/pauses.hpp"
#include "mpi/io/pieces.hpp"
#include "os/thread.hpp"

namespace sorrel::mpi {

namespace {

/// Bounds the memory of a part's list.
constexpr std::size_t part_pieces_max = 16384;

/// The pieces of a part: data bytes from `position` of the view, which lie one after the other at
/// `memory`. Returns their bytes.
template <class Piece>
std::size_t find_pieces(const FileView& view,
                        std::uint64_t position,
                        std::uint64_t end,
                        std::byte* memory,
                        std::vector<Piece>& pieces) {
  pieces.clear();
  std::size_t bytes = 0;
  view.visit_runs(
      position, std::min(end, position + part_bytes_max),
      [&](std::int64_t offset, std::size_t run_bytes) {
        if (!pieces.empty() &&
            offset == pieces.back().offset + static_cast<std::int64_t>(pieces.back().bytes)) {
          pieces.back().bytes += run_bytes;
        } else {
          if (pieces.size() == part_pieces_max) return false;
          pieces.push_back({offset, run_bytes, memory + bytes});
        }
        bytes += run_bytes;
        return true;
      });
  return bytes;
}

os::Moved move_part(const os::DiskFile& disk, std::vector<ReadPiece>& pieces) {
  return read_pieces(disk, pieces);
}

os::Moved move_part(const os::DiskFile& disk, std::vector<os::FilePiece>& pieces) {
  return write_pieces(disk, pieces);
}

/// Reads or writes, by the kind of the pieces.
template <class Piece>
int move_all(File& file, const FileAccess& access, std::size_t* moved) {
  constexpr bool is_write = std::is_same_v<Piece, os::FilePiece>;
  const auto& [buffer, count, type] = access.buffer;
  const std::size_t total = access.buffer.bytes();
  auto* memory = static_cast<std::byte*>(single_run(buffer, count, *type));
  std::unique_ptr<std::byte[]> room;
  if (memory == nullptr)
    room = std::make_unique_for_overwrite<std::byte[]>(std::min(total, part_bytes_max));
  std::vector<Piece> pieces;
  while (*moved < total) {
    const std::uint64_t position = access.position + *moved;
    std::byte* part = memory != nullptr ? memory + *moved : room.get();
    const std::size_t bytes = find_pieces(file.view, position, access.end(), part, pieces);
    if (is_write && memory == nullptr) take_from_buffer(access.buffer, *moved, bytes, part);
    const os::Moved now = move_part(file.shared->disk, pieces);
    if (!is_write && memory == nullptr) put_into_buffer(access.buffer, *moved, now.bytes, part);
    *moved += now.bytes;
    if (now.error != 0)
      return fail_disk(*file.owner, is_write ? "writing" : "reading", file.shared->path.c_str(),
                       now.error);
    if (now.bytes < bytes) break;
    if (*moved < total) let_other_ranks_run(*file.owner);
  }
  return MPI_SUCCESS;
}

}  // namespace

void take_from_buffer(const TypedBuffer& buffer,
                      std::size_t at,
                      std::size_t bytes,
                      std::byte* out) {
  if (bytes == 0) return;
  if (const void* run = single_run(buffer.buffer, buffer.count, *buffer.type)) {
    copy_bytes(out, static_cast<const std::byte*>(run) + at, bytes);
  } else {
    pack_range(buffer.buffer, *buffer.type, {at, at + bytes}, out);
  }
}

void put_into_buffer(const TypedBuffer& buffer,
                     std::size_t at,
                     std::size_t bytes,
                     const std::byte* in) {
  if (bytes == 0) return;
  if (void* run = single_run(buffer.buffer, buffer.count, *buffer.type)) {
    copy_bytes(static_cast<std::byte*>(run) + at, in, bytes);
  } else {
    unpack_range(in, {at, at + bytes}, buffer.buffer, *buffer.type);
  }
}

Member begin_collective(File& file, CollectiveKind kind) {
  file.comm->call = CollectiveCall({.kind = kind});
  return {*file.owner, *file.comm};
}

void let_other_ranks_run(RankState& self) {
  if (self.worker->has_ready()) self.worker->yield();
}

int find_file_bytes(File& file, const TypedBuffer& buffer, std::size_t* bytes) {
  const FileView& view = file.view;
  const int error = view.representation().file_bytes_of(buffer, view.etype(), view.etype_bytes(),
                                                        bytes, file.owner->detail());
  if (error != MPI_SUCCESS) return error;
  if (*bytes % view.etype_bytes() != 0)
    return file.owner->fail(MPI_ERR_TYPE,
                            "count and datatype describe %zu bytes, which are no multiple of the "
                            "etype's %zu",
                            *bytes, view.etype_bytes());
  return MPI_SUCCESS;
}

int FileData::prepare(File& file, const FileAccess& user) {
  user_ = user;
  access_ = user;
  const FileView& view = file.view;
  if (view.representation().is_plain() || user.buffer.bytes() == 0) return MPI_SUCCESS;
  std::size_t bytes = 0;
  if (const int error = find_file_bytes(file, user.buffer, &bytes); error != MPI_SUCCESS)
    return error;
  converted_ = std::make_unique<std::byte[]>(bytes + 1);
  access_.buffer = {
      .buffer = converted_.get(), .count = bytes, .type = datatype_from_handle(MPI_BYTE)};
  if (!user.is_write) return MPI_SUCCESS;
  const int error = view.representation().to_file(user.buffer, view.etype(), view.etype_bytes(),
                                                  converted_.get());
  return error == MPI_SUCCESS
             ? error
             : file.owner->fail(error, "the data cannot be converted to representation '%.64s'",
                                view.representation().name().data());
}

int FileData::finish(File& file, std::size_t file_bytes, std::size_t* memory_bytes) {
  *memory_bytes = file_bytes;
  if (converted_ == nullptr) return MPI_SUCCESS;
  if (user_.is_write) {
    *memory_bytes = file_bytes == access_.buffer.bytes() ? user_.buffer.bytes() : 0;
    return MPI_SUCCESS;
  }
  const FileView& view = file.view;
  const int error = view.representation().from_file(converted_.get(), file_bytes, user_.buffer,
                                                    view.etype(), view.etype_bytes(), memory_bytes);
  return error == MPI_SUCCESS
             ? error
             : file.owner->fail(error, "the data cannot be converted from representation '%.64s'",
                                view.representation().name().data());
}

int move_alone(File& file, const FileAccess& access, std::size_t* moved) {
  *moved = 0;
  if (access.buffer.bytes() == 0) return MPI_SUCCESS;
  AtomicLock lock;
  if (file.is_atomic) {
    if (const int error = lock.lock(file, access); error != MPI_SUCCESS) return error;
  }
  return access.is_write ? move_all<os::FilePiece>(file, access, moved)
                         : move_all<ReadPiece>(file, access, moved);
}

int access_alone(File& file, const FileAccess& access, std::size_t* moved) {
  *moved = 0;
  FileData data;
  if (const int error = data.prepare(file, access); error != MPI_SUCCESS) return error;
  std::size_t file_bytes = 0;
  if (const int error = move_alone(file, data.access(), &file_bytes); error != MPI_SUCCESS)
    return error;
  return data.finish(file, file_bytes, moved);
}

namespace {

struct BesideCall {
  int (*operation)(void*);
  void* argument;
  int result = 0;
  /// Release by the thread, acquire by the rank: the result.
  std::atomic<bool> is_done{false};
};

void* run_beside(void* argument) {
  auto& call = *static_cast<BesideCall*>(argument);
  call.result = call.operation(call.argument);
  call.is_done.store(true, std::memory_order_release);
  return nullptr;
}

}  // namespace

int call_beside(RankState& self, int (*operation)(void* argument), void* argument) {
  BesideCall call{.operation = operation, .argument = argument};
  // Under a seed the worker's time is not that of the system.
  if (self.worker->is_seeded() || !os::start_background_thread(run_beside, &call))
    return operation(argument);
  sleep_until(self, {.first_ns = 10'000, .last_ns = 1'000'000, .growth_divisor = 8},
              [&] { return call.is_done.load(std::memory_order_acquire); });
  return call.result;
}

}  // namespace sorrel::mpi
