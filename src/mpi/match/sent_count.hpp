//! SentCount - how many messages the ranks of a worker have sent, and how many bytes: for views of
//! a running job (`sorrel top`).
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::mpi {

class SentCount {
 public:
  /// The worker's thread only.
  void add(std::uint64_t bytes) {
    // Relaxed: one writer, and readers take differences of each number alone.
    messages_.store(messages() + 1, std::memory_order_relaxed);
    bytes_.store(this->bytes() + bytes, std::memory_order_relaxed);
  }

  /// Any thread.
  [[nodiscard]] std::uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sorrel::mpi
