//! Deque - ready tasks of one worker queue: the owner pushes and pops at one end, thieves steal at
//! the other.
//!
//! push() and pop(): the owner only; steal() and seems_empty(): any thread. Never allocates and
//! never grows: the caller provides one cell for every task that can be ready at a time.
//!
//! Progress: push() and pop() wait-free, steal() lock-free (fails when it loses a race). Ordering
//! labels: (U) push, (V) steal, and the total order (D) of pop and steal, by which they cannot both
//! take the last task. No fences, which the thread sanitizer would not see. Source: Chase, Lev,
//! "Dynamic circular work-stealing deque", SPAA 2005, without the growing.
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/sync.hpp"

namespace sorrel::graph {

using core::Order;

template <class Sync>
class BasicDeque {
 public:
  using Item = std::uint64_t;
  using Cell = typename Sync::template Atomic<Item>;

  /// Sets the cells, a power of two, all zero. Before any other call.
  void set_cells(Cell* cells, std::uint64_t count) {
    cells_ = cells;
    mask_ = count - 1;
  }

  void push(Item item) {
    // Relaxed: written by the owner only.
    const std::uint64_t bottom = bottom_.load(Order::relaxed);
    SORREL_ASSERT(bottom - top_.load(Order::relaxed) <= mask_);
    cells_[bottom & mask_].store(item, Order::relaxed);
    // (U) release, pairs with (V): the item, and all data that its task reads.
    bottom_.store(bottom + 1, Order::release);
  }

  bool pop(Item& item) {
    std::uint64_t bottom = bottom_.load(Order::relaxed);
    // Relaxed: the top only rises, to the bottom at most; when they seem equal, they are.
    if (bottom == top_.load(Order::relaxed)) return false;
    --bottom;
    // (D) Either a later thief sees the lowered bottom, or the owner sees the raised top.
    bottom_.exchange(bottom, Order::seq_cst);
    std::uint64_t top = top_.load(Order::seq_cst);
    const auto left = static_cast<std::int64_t>(bottom - top);
    if (left > 0) {
      item = cells_[bottom & mask_].load(Order::relaxed);
      return true;
    }
    // The last item goes to the thread that raises the top.
    bool has_won = left == 0;
    if (has_won) {
      item = cells_[bottom & mask_].load(Order::relaxed);
      has_won = top_.compare_exchange(top, top + 1, Order::seq_cst);
    }
    // Relaxed: the deque is empty; nothing is read through this bottom.
    bottom_.store(bottom + 1, Order::relaxed);
    return has_won;
  }

  bool steal(Item& item) {
    std::uint64_t top = top_.load(Order::seq_cst);
    // (V) acquire, pairs with (U); and (D).
    const std::uint64_t bottom = bottom_.load(Order::seq_cst);
    if (static_cast<std::int64_t>(bottom - top) <= 0) return false;
    // Relaxed: if the cell has been used again, the top has risen, and the exchange fails.
    item = cells_[top & mask_].load(Order::relaxed);
    return top_.compare_exchange(top, top + 1, Order::seq_cst);
  }

  /// Exact for the owner, a hint for other threads.
  [[nodiscard]] bool seems_empty() const {
    const std::uint64_t top = top_.load(Order::relaxed);
    return static_cast<std::int64_t>(bottom_.load(Order::relaxed) - top) <= 0;
  }

  /// Drops all items, while no other thread uses the deque.
  void clear() { top_.store(bottom_.load(Order::relaxed), Order::relaxed); }

 private:
  // Constant after set_cells().
  Cell* cells_ = nullptr;
  std::uint64_t mask_ = 0;
  // The owner's.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint64_t> bottom_{0};
  // Any thread.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint64_t> top_{0};
};

using Deque = BasicDeque<core::StdSync>;

}  // namespace sorrel::graph
