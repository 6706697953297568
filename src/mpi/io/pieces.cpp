#include "mpi/io/pieces.hpp"

#include <algorithm>
#include <memory>

#include "base/copy_bytes.hpp"

namespace sorrel::mpi {

namespace {

/// A longer gap costs more to read, or to map, than a system call does.
constexpr std::int64_t gap_bytes_max = 16 << 10;
/// The span of the pieces that are moved together.
constexpr std::int64_t span_bytes_max = 1 << 20;
/// Mapping costs as much as some writes.
constexpr std::size_t mapped_count_min = 8;

template <class Piece>
std::int64_t end_of(const Piece& piece) {
  return piece.offset + static_cast<std::int64_t>(piece.bytes);
}

/// How many of the first pieces lie so close together that they are moved together.
template <class Piece>
std::size_t count_close(std::span<const Piece> pieces) {
  const std::int64_t begin = pieces[0].offset;
  std::int64_t end = end_of(pieces[0]);
  std::size_t count = 1;
  while (count < pieces.size()) {
    const Piece& next = pieces[count];
    if (next.offset - end > gap_bytes_max || end_of(next) - begin > span_bytes_max) break;
    end = std::max(end, end_of(next));
    ++count;
  }
  return count;
}

os::Moved write_each(const os::DiskFile& disk, std::span<const os::FilePiece> pieces) {
  os::Moved all;
  for (const os::FilePiece& piece : pieces) {
    const os::Moved moved = disk.write(piece.from, piece.bytes, piece.offset);
    all.bytes += moved.bytes;
    all.error = moved.error;
    if (moved.error != 0) break;
  }
  return all;
}

template <class Piece>
std::size_t bytes_of(std::span<const Piece> pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces)
    bytes += piece.bytes;
  return bytes;
}

/// Reads everything from the first to the last piece, and distributes it.
os::Moved read_through(const os::DiskFile& disk,
                       std::span<const ReadPiece> pieces,
                       std::unique_ptr<std::byte[]>& room) {
  const std::int64_t begin = pieces.front().offset;
  std::int64_t end = begin;
  for (const ReadPiece& piece : pieces)
    end = std::max(end, end_of(piece));
  if (room == nullptr)
    room = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(span_bytes_max));
  const os::Moved moved = disk.read(room.get(), static_cast<std::size_t>(end - begin), begin);
  os::Moved all{.bytes = 0, .error = moved.error};
  for (const ReadPiece& piece : pieces) {
    const auto at = static_cast<std::size_t>(piece.offset - begin);
    const std::size_t bytes = moved.bytes <= at ? 0 : std::min(piece.bytes, moved.bytes - at);
    copy_bytes(piece.to, room.get() + at, bytes);
    all.bytes += bytes;
    if (bytes < piece.bytes) break;
  }
  return all;
}

}  // namespace

os::Moved read_pieces(const os::DiskFile& disk, std::span<const ReadPiece> pieces) {
  os::Moved all;
  std::unique_ptr<std::byte[]> room;
  while (!pieces.empty()) {
    const std::size_t count = count_close(pieces);
    const std::span<const ReadPiece> close = pieces.first(count);
    const os::Moved moved = count == 1 ? disk.read(close[0].to, close[0].bytes, close[0].offset)
                                       : read_through(disk, close, room);
    all.bytes += moved.bytes;
    all.error = moved.error;
    if (moved.bytes < bytes_of(close)) break;
    pieces = pieces.subspan(count);
  }
  return all;
}

os::Moved write_pieces(const os::DiskFile& disk, std::span<const os::FilePiece> pieces) {
  os::Moved all;
  while (!pieces.empty() && all.error == 0) {
    const std::size_t count = count_close(pieces);
    const std::span<const os::FilePiece> close = pieces.first(count);
    if (count >= mapped_count_min && disk.write_mapped(close)) {
      all.bytes += bytes_of(close);
    } else {
      const os::Moved moved = write_each(disk, close);
      all.bytes += moved.bytes;
      all.error = moved.error;
    }
    pieces = pieces.subspan(count);
  }
  return all;
}

}  // namespace sorrel::mpi
