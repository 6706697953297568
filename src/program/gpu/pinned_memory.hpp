//! PinnedMemory - memory of the host that devices access directly, for a rank's copies of messages.
//!
//! Making such memory known to the driver takes it milliseconds, so pieces that come back are kept,
//! up to 256 MiB. Sizes are powers of two from 64 KiB to 64 MiB. The memory is the system's own,
//! not the driver's: other processes of the node may read it, and it outlives a context. Any thread
//! of the process; never suspends.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

class PinnedMemory {
 public:
  static constexpr std::size_t piece_bytes_min = std::size_t{64} << 10;
  static constexpr std::size_t piece_bytes_max = std::size_t{64} << 20;
  static constexpr std::size_t kept_bytes_max = std::size_t{256} << 20;

  /// A piece of at least `bytes`, at most piece_bytes_max, that ends with `context`. Null: the
  /// driver has none.
  [[nodiscard]] std::byte* take(std::size_t bytes, Context context);

  /// A piece that take() has returned.
  void give(std::byte* memory);

  /// `context` ends, and is current. Pieces that are in use are pinned no longer, and stay until
  /// they are given back: a message may still be written into them.
  void end_context(Context context);

 private:
  struct Piece {
    std::byte* memory;
    std::size_t bytes;
    /// Null: it has ended.
    Context context;
    bool is_kept;
  };

  static void unmap(const Piece& piece);

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  /// Invariant: the sum over kept pieces.
  std::size_t kept_bytes_ = 0;
};

}  // namespace sorrel::program::gpu
