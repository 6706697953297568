//! StartBits - the threads of a region that have not been started, one bit each.
//!
//! The master publishes all bits with one exchange; the thread that clears a bit starts that team
//! thread, and no other thread does. Only the master publishes, when no bit is left; any thread
//! takes. Lock-free. Ordering label: (B) publishing and taking bits. README.md, "A region".
#pragma once

#include <bit>
#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

/// The orders by their labels; the model weakens one at a time.
struct StartOrders {
  static constexpr core::Order publish = core::Order::seq_cst;
  static constexpr core::Order take = core::Order::acquire;
  static constexpr core::Order check = core::Order::seq_cst;
};

template <class Sync, class Orders = StartOrders>
class BasicStartBits {
 public:
  static constexpr std::uint32_t count = 64;
  static constexpr std::uint32_t none = count;

  void publish(std::uint64_t bits) {
    // (B) release: the team is written. Seq_cst: before the check for sleeping helpers.
    (void)bits_.exchange(bits, Orders::publish);
  }

  /// The number of a bit that was set and that the caller has cleared, `preferred` if it can be.
  std::uint32_t take(std::uint32_t preferred) {
    // Relaxed: the exchange decides.
    std::uint64_t bits = bits_.load(core::Order::relaxed);
    while (bits != 0) {
      const std::uint64_t wanted = preferred < count ? std::uint64_t{1} << preferred : 0;
      const std::uint64_t bit = (bits & wanted) != 0 ? wanted : bits & (0 - bits);
      // (B) acquire, pairs with publish(): other takers are read-modify-writes in between.
      if (bits_.compare_exchange(bits, bits & ~bit, Orders::take))
        return static_cast<std::uint32_t>(std::countr_zero(bit));
    }
    return none;
  }

  /// Whether that bit was set and the caller has cleared it.
  bool take_only(std::uint32_t number) {
    const std::uint64_t bit = std::uint64_t{1} << number;
    // Relaxed: the exchange decides.
    std::uint64_t bits = bits_.load(core::Order::relaxed);
    while ((bits & bit) != 0) {
      // (B) acquire, as in take().
      if (bits_.compare_exchange(bits, bits & ~bit, Orders::take)) return true;
    }
    return false;
  }

  /// A hint.
  [[nodiscard]] std::uint64_t seems() const { return bits_.load(core::Order::relaxed); }

  /// By a thread that has announced its sleep.
  [[nodiscard]] bool any() const { return bits_.load(Orders::check) != 0; }

 private:
  typename Sync::template Atomic<std::uint64_t> bits_;
};

using StartBits = BasicStartBits<core::StdSync>;

}  // namespace sorrel::omp
