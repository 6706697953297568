//! Slot - one open loop: room for helpers, helpers inside, and the chunks that are left.
//!
//! All is in one word: chunks left, chunks taken by helpers, helpers inside, room for more. The
//! caller opens the loop with one store. Helpers join by compare-and-swap while chunks and room are
//! left, and take a chunk with the same instruction. Each thread takes further chunks by one
//! addition: the caller the lowest number that is left, helpers the highest. No helper can join
//! when no chunk is left, so the loop closes by itself. The caller waits only for helpers inside,
//! never for one that has not joined. A caller that finds no helper inside as it takes the last
//! chunk does not access the slot again. See README.md for the protocol and its proof.
//!
//! open(), take_as_caller(), announce_sleep(), is_over(): the caller. The rest: any thread;
//! take_as_helper() and leave() only while inside. Progress: join() lock-free, all others except
//! cancel() wait-free. Ordering labels: (O) open, (J) join, (L) leave, (E) end. Invariant while
//! open: inside + room = helpers_max; chunks taken by the caller + by helpers + left =
//! plan.count().
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "core/sync.hpp"
#include "loop/split/chunk_plan.hpp"

namespace sorrel::loop {

using core::Order;

/// Returned by the body to continue; any other value, which is positive, cancels the loop.
inline constexpr int go_on = 0;

/// Outcome of a loop of which nothing was run, see Work::is_shared_only.
inline constexpr int not_shared = -1;

/// Runs the iterations [begin, end) of a loop.
using Body = int (*)(void* argument, std::int64_t begin, std::int64_t end);

/// The body and plan of a loop. Constant from open() until the caller has seen its end.
struct Work {
  Body body = nullptr;
  void* argument = nullptr;
  ChunkPlan plan;
  /// Without a possible helper nothing is run.
  bool is_shared_only = false;
};

/// The orders of a slot by their labels; the model weakens one at a time.
struct SlotOrders {
  static constexpr Order open = Order::release;
  static constexpr Order join = Order::acquire;
  static constexpr Order leave = Order::release;
  static constexpr Order end = Order::acquire;
};

template <class Sync, class Orders = SlotOrders>
class BasicSlot {
 public:
  /// inside: bits 0-9, room: 10-19, epoch: 20-22, caller sleeps: 23, taken by helpers: 24-43, left:
  /// 44-63, signed: late takers make it negative.
  class Word {
   public:
    explicit Word(std::uint64_t bits) : bits_(bits) {}

    [[nodiscard]] std::uint32_t inside() const { return field(0, 10); }

    [[nodiscard]] std::uint32_t room() const { return field(10, 10); }

    [[nodiscard]] std::uint32_t epoch() const { return field(20, 3); }

    [[nodiscard]] bool is_caller_asleep() const { return field(23, 1) != 0; }

    [[nodiscard]] std::int32_t taken_by_helpers() const {
      return static_cast<std::int32_t>(field(24, 20));
    }

    [[nodiscard]] std::int32_t left() const {
      return static_cast<std::int32_t>(static_cast<std::int64_t>(bits_) >> 44);
    }

    [[nodiscard]] bool is_joinable() const { return left() > 0 && room() > 0; }

   private:
    [[nodiscard]] std::uint32_t field(unsigned first, unsigned width) const {
      return static_cast<std::uint32_t>(bits_ >> first) & ((1U << width) - 1);
    }

    std::uint64_t bits_;
  };

  static constexpr std::uint32_t helpers_max = 1023;

  /// Publishes `work`; the caller keeps chunk 0 for itself. The slot must be over.
  void open(const Work& work, std::uint32_t helper_count_max) {
    SORREL_ASSERT(helper_count_max <= helpers_max && work.plan.count() > 1);
    work_.mutate() = work;
    epoch_ = (epoch_ + one_epoch) & epoch_mask;
    const auto left = static_cast<std::uint64_t>(work.plan.count() - 1);
    // (O) release, pairs with (J): the work is complete.
    word_.store(left * one_left + epoch_ + helper_count_max * one_room, Orders::open);
  }

  /// Returns the state before taking a chunk: if left() is positive, the caller owns the lowest
  /// chunk that was left.
  Word take_as_caller() {
    // (E) acquire, pairs with the (L) of helpers that have left: when no helper is inside, the
    // caller has seen all their effects. Later leaves are read-modify-writes and continue each
    // release sequence.
    return Word(word_.fetch_add(minus(one_left), Orders::end));
  }

  /// As above, for a helper that is inside: it owns chunk number chunk_of_helper().
  Word take_as_helper() {
    // Relaxed: the number is unique by atomicity, and the work was seen at (J).
    return Word(word_.fetch_add(one_taken - one_left, Order::relaxed));
  }

  /// The number of the chunk taken by a helper that found the state `before`.
  [[nodiscard]] std::int32_t chunk_of_helper(Word before) const {
    return work_.get().plan.count() - 1 - before.taken_by_helpers();
  }

  /// A hint.
  [[nodiscard]] Word poll() const {
    // Relaxed: join() checks again.
    return Word(word_.load(Order::relaxed));
  }

  /// Goes inside and takes a chunk, if chunks and room are left: returns the state before, else a
  /// state that is not joinable.
  Word join() {
    // Relaxed: a guess that the exchange checks.
    std::uint64_t bits = word_.load(Order::relaxed);
    while (Word(bits).is_joinable()) {
      // (J) acquire, pairs with (O): joins and takes in between are read-modify-writes. If another
      // loop has been opened since the guess, the helper joins that one.
      if (word_.compare_exchange(bits, bits - one_left + one_taken - one_room + one_inside,
                                 Orders::join))
        return Word(bits);
    }
    return Word(bits);
  }

  /// Only inside.
  [[nodiscard]] const Work& work() const { return work_.get(); }

  /// Goes out, and makes room for another helper. True: the caller sleeps and no other helper is
  /// inside, so wake it. False: the slot may be gone already.
  [[nodiscard]] bool leave() {
    // (L) release, pairs with (E): publishes what this helper did.
    const Word before(word_.fetch_add(one_room - one_inside, Orders::leave));
    return before.inside() == 1 && before.is_caller_asleep();
  }

  /// No further chunk is taken. Caller or inside.
  void cancel() {
    std::uint64_t bits = word_.load(Order::relaxed);
    while (Word(bits).left() > 0) {
      // Relaxed: it publishes only that there is nothing to take.
      if (word_.compare_exchange(bits, bits & (one_left - 1), Order::relaxed)) return;
    }
  }

  /// Whether no helper is inside. Only when no chunk is left.
  [[nodiscard]] bool is_over() const {
    // (E) acquire, as above.
    return Word(word_.load(Orders::end)).inside() == 0;
  }

  /// No chunk is left. True: no helper is inside. False: the last to leave must wake the caller.
  [[nodiscard]] bool announce_sleep() {
    // (E) acquire, as above.
    return Word(word_.fetch_add(asleep, Orders::end)).inside() == 0;
  }

 private:
  static constexpr std::uint64_t one_inside = 1;
  static constexpr std::uint64_t one_room = std::uint64_t{1} << 10;
  static constexpr std::uint64_t one_epoch = std::uint64_t{1} << 20;
  static constexpr std::uint64_t epoch_mask = 7 * one_epoch;
  static constexpr std::uint64_t asleep = std::uint64_t{1} << 23;
  static constexpr std::uint64_t one_taken = std::uint64_t{1} << 24;
  static constexpr std::uint64_t one_left = std::uint64_t{1} << 44;
  // Late takers, at most one at a time for each helper, fit in beside the chunks.
  static_assert(ChunkPlan::chunk_count_max + helpers_max < 1 << 19);

  static constexpr std::uint64_t minus(std::uint64_t value) { return ~value + 1; }

  // Helpers: atomics. The work lies on the same line, and comes with it.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint64_t> word_;
  // Written by the caller while no helper is inside; read inside.
  typename Sync::template Plain<Work> work_;
  // The caller only.
  alignas(cache_line_bytes) std::uint64_t epoch_ = 0;
};

}  // namespace sorrel::loop
