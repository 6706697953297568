#include "program/gpu/pinned_memory.hpp"

#include <algorithm>
#include <bit>

#include "program/gpu/rank_gpu.hpp"

namespace sorrel::program::gpu {

namespace {

/// A flag of cuMemHostAlloc(): all contexts may use it.
constexpr unsigned portable = 1;

}  // namespace

std::byte* PinnedMemory::take(std::size_t bytes, Context context) {
  const std::size_t rounded = std::bit_ceil(std::max(bytes, piece_bytes_min));
  const std::scoped_lock lock(mutex_);
  const auto kept = std::ranges::find_if(
      pieces_, [rounded](const Piece& piece) { return piece.is_kept && piece.bytes == rounded; });
  if (kept != pieces_.end()) {
    kept->is_kept = false;
    kept_bytes_ -= rounded;
    return kept->memory;
  }
  ThreadContext thread;
  thread.use(context);
  void* memory = nullptr;
  if (driver().cuMemHostAlloc(&memory, rounded, portable) != success) return nullptr;
  pieces_.push_back({.memory = static_cast<std::byte*>(memory),
                     .bytes = rounded,
                     .context = context,
                     .is_kept = false});
  return static_cast<std::byte*>(memory);
}

void PinnedMemory::give(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  const auto piece = std::ranges::find(pieces_, memory, &Piece::memory);
  if (piece == pieces_.end()) return;
  if (kept_bytes_ + piece->bytes <= kept_bytes_max) {
    piece->is_kept = true;
    kept_bytes_ += piece->bytes;
    return;
  }
  ThreadContext thread;
  thread.use(piece->context);
  pieces_.erase(piece);
  static_cast<void>(driver().cuMemFreeHost(memory));
}

void PinnedMemory::end_context(Context context) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(pieces_, [&](const Piece& piece) {
    if (piece.context != context) return false;
    if (piece.is_kept) {
      kept_bytes_ -= piece.bytes;
      static_cast<void>(driver().cuMemFreeHost(piece.memory));
    }
    return true;
  });
}

}  // namespace sorrel::program::gpu
