#include "program/gpu/pinned_memory.hpp"

#include <algorithm>
#include <bit>
#include <sys/mman.h>

#include "base/check.hpp"
#include "program/gpu/rank_gpu.hpp"

namespace sorrel::program::gpu {

namespace {

/// A flag of cuMemHostRegister(): all contexts may use it.
constexpr unsigned portable = 1;

}  // namespace

std::byte* PinnedMemory::take(std::size_t bytes, Context context) {
  SORREL_ASSERT(bytes <= piece_bytes_max, "a piece of %zu bytes", bytes);
  const std::size_t rounded = std::bit_ceil(std::max(bytes, piece_bytes_min));
  const std::scoped_lock lock(mutex_);
  const auto kept = std::ranges::find_if(
      pieces_, [rounded](const Piece& piece) { return piece.is_kept && piece.bytes == rounded; });
  if (kept != pieces_.end()) {
    SORREL_ASSERT(kept_bytes_ >= rounded, "%zu bytes of kept pieces", kept_bytes_);
    kept->is_kept = false;
    kept_bytes_ -= rounded;
    return kept->memory;
  }
  ThreadContext thread;
  thread.use(context);
  void* memory =
      ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (driver().cuMemHostRegister_v2(memory, rounded, portable) != success) {
    ::munmap(memory, rounded);
    return nullptr;
  }
  pieces_.push_back({.memory = static_cast<std::byte*>(memory),
                     .bytes = rounded,
                     .context = context,
                     .is_kept = false});
  return static_cast<std::byte*>(memory);
}

void PinnedMemory::unmap(const Piece& piece) {
  if (piece.context != nullptr) {
    ThreadContext thread;
    thread.use(piece.context);
    static_cast<void>(driver().cuMemHostUnregister(piece.memory));
  }
  ::munmap(piece.memory, piece.bytes);
}

void PinnedMemory::give(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  const auto piece = std::ranges::find(pieces_, memory, &Piece::memory);
  SORREL_CHECK(piece != pieces_.end() && !piece->is_kept, "memory that is not in use");
  if (piece->context != nullptr && kept_bytes_ + piece->bytes <= kept_bytes_max) {
    piece->is_kept = true;
    kept_bytes_ += piece->bytes;
    return;
  }
  unmap(*piece);
  pieces_.erase(piece);
}

void PinnedMemory::end_context(Context context) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(pieces_, [&](Piece& piece) {
    if (piece.context != context) return false;
    if (piece.is_kept) {
      SORREL_ASSERT(kept_bytes_ >= piece.bytes, "%zu bytes of kept pieces", kept_bytes_);
      kept_bytes_ -= piece.bytes;
      unmap(piece);
      return true;
    }
    static_cast<void>(driver().cuMemHostUnregister(piece.memory));
    piece.context = nullptr;
    return false;
  });
}

}  // namespace sorrel::program::gpu
