//! MessagePool - buffers for messages that arrived before anybody asked for them.
//!
//! One worker's: take() and give_back() by its thread only, so there is no lock and no atomic but
//! the congestion flag. Buffers come in powers of two from 128 bytes to buffer_bytes_max; freed
//! ones are kept for reuse. The pool has a bound: at the bound take() fails and the message stays
//! with its sender (rendezvous). Senders on other workers see is_congested() and stop sending
//! copies; those already on their way still fit:
//!   bytes in use <= bytes_max + sum over sending workers of what a mailbox holds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  /// A buffer of at least `bytes` <= buffer_bytes_max, 16-byte aligned. Null at the bound (`fail`)
  /// or without memory. `exceed` is for what is already on its way (see above).
  void* take(std::size_t bytes, WhenFull when_full);

  /// Returns a buffer that was taken with the same `bytes`.
  void give_back(void* buffer, std::size_t bytes);

  /// Any thread: whether senders should keep their messages.
  [[nodiscard]] bool is_congested() const {
    // Relaxed: advice; nothing is read through it.
    return congested_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  static constexpr std::size_t class_count = 9;  // 128 << 8 == 32768
  static std::size_t class_of(std::size_t bytes);
  void* refill(std::size_t size_class);
  void note_use();

  struct FreeBuffer {
    FreeBuffer* next;
  };

  const std::size_t bytes_max_;
  std::array<FreeBuffer*, class_count> free_{};
  std::vector<void*> slabs_;
  std::size_t bytes_in_use_ = 0;
  std::atomic<bool> congested_{false};
};

}  // namespace sorrel::core
