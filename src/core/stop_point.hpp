//! StopPoint - all workers of a process meet outside their fibers; the last one to arrive acts for
//! all of them, and then they go on. Or nothing happens, because one of them is late.
//!
//! One word: how many stops there have been, whether the last one is over, and how many workers
//! have arrived. A worker that has arrived does not run until the stop is over, or gives it up for
//! all: the thread of a late worker may wait itself. README.md, "Stops".
//!
//! Progress: arrive() and give_up() lock-free, the others wait-free. Limits: 2^32 stops, 2^31
//! workers. Ordering labels: (O) open and (A) arrival, what the requester and the workers have
//! written before; (C) close and (W) wait, what the last one to arrive, or each one that acts, has
//! written.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicStopPoint {
 public:
  enum class Arrival : std::uint8_t {
    late,  ///< The stop is over, or there is none.
    last,  ///< The caller acts for all, then calls close().
    early  ///< The caller waits until is_over().
  };

  struct Stop {
    Arrival arrival = Arrival::late;
    std::uint32_t number = 0;
  };

  /// One requester at a time, when the last stop is over. Returns the number of the stop: not 0.
  std::uint32_t open() {
    // Relaxed: the requester has seen the end of the last stop.
    const std::uint64_t seen = word_.load(Order::relaxed);
    SORREL_ASSERT(!is_open_in(seen), "a stop begins while another one lasts");
    // (O) release, pairs with (A): what the stop is for.
    const std::uint32_t number = number_in(seen) + 1 == 0 ? 1 : number_in(seen) + 1;
    word_.store(word_of(number, true, 0), Order::release);
    return number;
  }

  /// A hint.
  [[nodiscard]] bool seems_open() const { return is_open_in(word_.load(Order::relaxed)); }

  /// A hint: the number of the stop that lasts; 0: there is none.
  [[nodiscard]] std::uint32_t open_number() const {
    const std::uint64_t seen = word_.load(Order::relaxed);
    return is_open_in(seen) ? number_in(seen) : 0;
  }

  /// Each worker at most once in a stop.
  Stop arrive(std::uint32_t worker_count) {
    std::uint64_t seen = word_.load(Order::relaxed);
    for (;;) {
      if (!is_open_in(seen)) return {};
      const std::uint32_t count = count_in(seen) + 1;
      SORREL_ASSERT(count <= worker_count, "a worker arrives twice");
      // (A) acquire, pairs with (O) and (A); release, pairs with (A): the last one to arrive sees
      // what all workers have written.
      if (word_.compare_exchange(seen, seen + 1, Order::acq_rel))
        return {count == worker_count ? Arrival::last : Arrival::early, number_in(seen)};
    }
  }

  /// The last one to arrive, when it has acted.
  void close() {
    // Relaxed: no other worker changes it when all have arrived.
    const std::uint64_t seen = word_.load(Order::relaxed);
    SORREL_ASSERT(is_open_in(seen));
    // (C) release, pairs with (W): what the caller has changed.
    word_.store(word_of(number_in(seen), false, 0), Order::release);
  }

  /// An early one, instead of is_over(), if all that arrive are to act: true until one closes the
  /// stop.
  [[nodiscard]] bool have_all_arrived(std::uint32_t number, std::uint32_t worker_count) const {
    // (W) acquire, pairs with (A).
    const std::uint64_t seen = word_.load(Order::acquire);
    return number_in(seen) == number && is_open_in(seen) && count_in(seen) == worker_count;
  }

  /// Whether the stop of this number has been closed or given up.
  [[nodiscard]] bool is_over(std::uint32_t number) const {
    // (W) acquire, pairs with (C).
    const std::uint64_t seen = word_.load(Order::acquire);
    return number_in(seen) != number || !is_open_in(seen);
  }

  /// An early worker: ends the stop without effect, unless all have arrived.
  void give_up(std::uint32_t number, std::uint32_t worker_count) {
    std::uint64_t seen = word_.load(Order::relaxed);
    while (number_in(seen) == number && is_open_in(seen) && count_in(seen) < worker_count) {
      // Release, pairs with (W): the number that the requester increments.
      if (word_.compare_exchange(seen, word_of(number, false, 0), Order::release)) return;
    }
  }

 private:
  static constexpr std::uint64_t open_bit = std::uint64_t{1} << 31;

  static constexpr std::uint64_t word_of(std::uint32_t number, bool is_open, std::uint32_t count) {
    return std::uint64_t{number} << 32 | (is_open ? open_bit : 0) | count;
  }

  static constexpr std::uint32_t number_in(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }

  static constexpr bool is_open_in(std::uint64_t word) { return (word & open_bit) != 0; }

  static constexpr std::uint32_t count_in(std::uint64_t word) {
    return static_cast<std::uint32_t>(word & (open_bit - 1));
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

using StopPoint = BasicStopPoint<StdSync>;

/// A stop in which a worker has arrived early.
struct HeldStop {
  std::uint32_t number = 0;
  /// Then it is given up.
  std::int64_t end_ns = 0;
};

}  // namespace sorrel::core
