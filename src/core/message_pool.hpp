//! MessagePool - buffers for unexpected messages.
//!
//! Belongs to one worker: only its thread calls take() and give_back(), so there is no lock and the
//! only atomic is the congestion flag. Buffer sizes are powers of two from 128 bytes to
//! buffer_bytes_max; freed buffers are kept for reuse. The pool has a limit: at the limit take()
//! fails and the message stays with its sender (rendezvous). Senders on other workers see
//! is_congested() and stop sending copies; copies already in flight still fit:
//! bytes in use <= bytes_max + sum over sending workers of a mailbox's contents.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "base/cache_line.hpp"

namespace sorrel::core {

class MessagePool {
 public:
  static constexpr std::size_t buffer_bytes_min = 128;
  static constexpr std::size_t buffer_bytes_max = 32768;

  explicit MessagePool(std::size_t bytes_max);
  ~MessagePool();
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  enum class WhenFull { fail, exceed };

  /// Returns a buffer of at least `bytes` <= buffer_bytes_max, 16-byte aligned. Null at the limit
  /// (`fail`) or without memory. `exceed` is for messages already in flight (see above).
  void* take(std::size_t bytes, WhenFull when_full);

  /// Gives back a buffer taken with the same `bytes`.
  void give_back(void* buffer, std::size_t bytes);

  /// While the workers of both pools are stopped: a buffer taken with `bytes` will be given back to
  /// `to`. Its memory stays with this pool, which lives as long.
  void pass_on(MessagePool& to, std::size_t bytes);

  /// Any thread: whether senders should keep their messages.
  [[nodiscard]] bool is_congested() const {
    // Relaxed: a hint; nothing is read through it.
    return congested_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  static constexpr std::size_t class_count = 9;  // 128 << 8 == 32768
  static std::size_t class_of(std::size_t bytes);
  void* take_free(std::size_t size_class);
  void give_free(void* buffer, std::size_t size_class);
  void* refill(std::size_t size_class);
  void note_use();

  struct FreeBuffer {
    FreeBuffer* next;
  };

  // Own thread only.
  const std::size_t bytes_max_;
  std::array<FreeBuffer*, class_count> free_{};
  std::vector<void*> slabs_;
  std::size_t bytes_in_use_ = 0;

  // Any thread. On a line of its own: the members above change with each buffer, and senders would
  // fetch the line again for each message.
  alignas(cache_line_bytes) std::atomic<bool> congested_{false};
};

}  // namespace sorrel::core
