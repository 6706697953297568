//! TakeAllList - nodes that any thread may add and that their owner takes all at once.
//!
//! push(): any thread; take_all(): the owner only. The nodes are the callers'; a pushed node
//! belongs to the taker. No order is promised. Used where adding is rare (a worker's new
//! mailboxes).
//!
//! Progress: push() lock-free, take_all() wait-free. Ordering labels: (N) push, (M) take. Source:
//! Treiber 1986; without a single-node pop there is no ABA problem.
#pragma once

#include "core/sync.hpp"

namespace sorrel::core {

/// Node has a member `Node* next`.
template <class Sync, class Node>
class BasicTakeAllList {
 public:
  void push(Node& node) {
    // Relaxed: a guess, checked by the exchange.
    node.next = newest_.load(Order::relaxed);
    // (N) release, pairs with (M): the node is complete. Failure is relaxed: it refreshes the
    // guess.
    while (!newest_.compare_exchange(node.next, &node, Order::release)) {
    }
  }

  /// The newest node, linked to all others through `next`, or null.
  Node* take_all() {
    // (M) acquire, pairs with the (N) of every node: later pushes are read-modify-writes and so
    // continue each one's release sequence.
    return newest_.exchange(nullptr, Order::acquire);
  }

  [[nodiscard]] bool seems_empty() const {
    // Relaxed: a hint; take_all() looks again.
    return newest_.load(Order::relaxed) == nullptr;
  }

 private:
  typename Sync::template Atomic<Node*> newest_{nullptr};
};

}  // namespace sorrel::core
