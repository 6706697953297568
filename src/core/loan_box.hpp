//! LoanBox - the ready fibers that a worker offers to idle workers: a bounded queue with one
//! producer, from which any thread takes.
//!
//! Only the owner, the worker to which the fibers belong, calls try_push(). The owner and thieves
//! call claim(), which takes the oldest entry; each entry is claimed once. The word holds how many
//! entries were ever pushed and how many were ever claimed, modulo 2^32. A claim exchanges the
//! whole word, so it fails if either number has changed. All zero is the empty box. README.md,
//! "Loans", has the protocol.
//!
//! Progress: try_push() wait-free, claim() lock-free. Limit: `slot_count` entries. Ordering labels:
//! (B) push and (C) claim, what the owner has written before the push; (E) claim and (R) reuse, the
//! slot. Source: Lamport 1977, with a compare-and-swap at the consumers' end.
#pragma once

#include <array>
#include <cstdint>

#include "base/cache_line.hpp"
#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync, class T, std::uint32_t slot_count = 32>
class alignas(cache_line_bytes) BasicLoanBox {
  static_assert((slot_count & (slot_count - 1)) == 0);

 public:
  /// Owner only. False: the box is full.
  bool try_push(T* entry) {
    // (R) acquire, pairs with (E): the thief has read the slot that is overwritten below.
    const std::uint64_t seen = word_.load(Order::acquire);
    if (pushed_in(seen) - claimed_in(seen) == slot_count) return false;
    slots_[pushed_in(seen) % slot_count].store(entry, Order::relaxed);
    // (B) release, pairs with (C): the slot, and what the entry points to.
    word_.fetch_add(one_push, Order::release);
    return true;
  }

  /// Any thread. The oldest entry, which then belongs to the caller; null: the box is empty.
  T* claim() {
    for (;;) {
      // (C) acquire, pairs with (B).
      std::uint64_t seen = word_.load(Order::acquire);
      if (pushed_in(seen) == claimed_in(seen)) return nullptr;
      // Relaxed: valid if the exchange succeeds, since the owner overwrites claimed slots only.
      T* entry = slots_[claimed_in(seen) % slot_count].load(Order::relaxed);
      // (E) release, pairs with (R): the slot has been read.
      if (word_.compare_exchange(seen, word(pushed_in(seen), claimed_in(seen) + 1), Order::release))
        return entry;
    }
  }

  /// Any thread, a hint.
  [[nodiscard]] bool seems_empty() const {
    // Relaxed: claim() loads again.
    const std::uint64_t seen = word_.load(Order::relaxed);
    return pushed_in(seen) == claimed_in(seen);
  }

 private:
  static constexpr std::uint64_t one_push = std::uint64_t{1} << 32;

  static constexpr std::uint64_t word(std::uint32_t pushed, std::uint32_t claimed) {
    return std::uint64_t{pushed} << 32 | claimed;
  }

  static constexpr std::uint32_t pushed_in(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }

  static constexpr std::uint32_t claimed_in(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }

  typename Sync::template Atomic<std::uint64_t> word_;
  std::array<typename Sync::template Atomic<T*>, slot_count> slots_;
};

}  // namespace sorrel::core
