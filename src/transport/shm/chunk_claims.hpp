//! ChunkClaims - claims of the chunks of a long message that its receiver and its sender copy
//! together.
//!
//! The receiver opens a round of n chunks and claims them from the first on; a helper claims them
//! from the last on; each chunk is claimed once. Lies in memory that the processes share; zeroed
//! memory is a finished round. One opener and one helper at a time; a late helper finds another
//! round or no chunk left. README.md, "Copying by both ends", has the proof. Ordering labels: (O)
//! open and (C) claim, (D) done and (W) wait.
//! Progress: claiming is lock-free; the opener waits for chunks that the helper has claimed.
#pragma once

#include <cstdint>
#include <optional>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/sync.hpp"

namespace sorrel::transport {

using core::Order;

template <class Sync>
class alignas(cache_line_bytes) BasicChunkClaims {
 public:
  static constexpr std::uint32_t chunk_count_max = 0xffff;

  /// Opener. Returns the number of the round, never 0.
  std::uint32_t open(std::uint32_t chunk_count) {
    SORREL_ASSERT(chunk_count > 0 && chunk_count <= chunk_count_max);
    SORREL_ASSERT(are_all_claimed(), "the last round has chunks that were not copied");
    round_ = round_ == UINT32_MAX ? 1 : round_ + 1;
    // Relaxed: published by (O).
    done_.store(0, Order::relaxed);
    has_failed_.store(0, Order::relaxed);
    // (O) release, pairs with (C): a claiming thread sees the counts of this round.
    word_.store(word(round_, 0, chunk_count), Order::release);
    return round_;
  }

  /// Opener: the next chunk from the front, or none.
  std::optional<std::uint32_t> claim_front() {
    std::uint64_t seen = word_.load(Order::relaxed);
    while (front_of(seen) < back_of(seen)) {
      // Relaxed: only the number passes to this thread.
      if (word_.compare_exchange(seen, word(round_of(seen), front_of(seen) + 1, back_of(seen)),
                                 Order::relaxed))
        return front_of(seen);
    }
    return std::nullopt;
  }

  /// Helper: the next chunk of that round from the back, or none.
  std::optional<std::uint32_t> claim_back(std::uint32_t round) {
    std::uint64_t seen = word_.load(Order::relaxed);
    while (round_of(seen) == round && front_of(seen) < back_of(seen)) {
      // (C) acquire, pairs with (O).
      if (word_.compare_exchange(seen, word(round, front_of(seen), back_of(seen) - 1),
                                 Order::acquire))
        return back_of(seen) - 1;
    }
    return std::nullopt;
  }

  /// Helper: a chunk that it has claimed is copied, or cannot be copied.
  void finish_back(bool is_copied) {
    if (!is_copied) has_failed_.store(1, Order::relaxed);
    // (D) release, pairs with (W): the copy, and whether it failed.
    done_.fetch_add(1, Order::release);
  }

  /// Opener, after claim_front() has returned none: the first chunk claimed by the helper.
  [[nodiscard]] std::uint32_t first_of_helper() const {
    return back_of(word_.load(Order::relaxed));
  }

  /// Opener: whether `count` chunks of the helper are finished.
  [[nodiscard]] bool are_done(std::uint32_t count) const {
    // (W) acquire, pairs with (D).
    return done_.load(Order::acquire) == count;
  }

  /// Opener, after are_done().
  [[nodiscard]] bool has_failed() const { return has_failed_.load(Order::relaxed) != 0; }

 private:
  [[nodiscard]] bool are_all_claimed() const {
    const std::uint64_t seen = word_.load(Order::relaxed);
    return front_of(seen) >= back_of(seen);
  }

  static constexpr std::uint64_t word(std::uint32_t round,
                                      std::uint32_t front,
                                      std::uint32_t back) {
    return std::uint64_t{round} << 32 | std::uint64_t{front} << 16 | back;
  }

  static constexpr std::uint32_t round_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }

  static constexpr std::uint32_t front_of(std::uint64_t word) { return (word >> 16) & 0xffff; }

  static constexpr std::uint32_t back_of(std::uint64_t word) { return word & 0xffff; }

  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  Atomic<std::uint64_t> word_;
  Atomic<std::uint32_t> done_;
  Atomic<std::uint32_t> has_failed_;
  // Opener only.
  std::uint32_t round_ = 0;
};

using ChunkClaims = BasicChunkClaims<core::StdSync>;

}  // namespace sorrel::transport
