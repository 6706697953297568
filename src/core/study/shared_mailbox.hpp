//! SharedMailbox - one queue of records from all senders to a worker, for measurements.
//!
//! The ring of core/mailbox.hpp with a slot reserved by a read-modify-write. Payloads lie in the
//! slots, so there is no second ring to reserve; a longer one is refused, and its sender keeps it.
//! try_post() by any worker, the other functions by the receiver only. The order of each sender is
//! kept. All zero is the empty queue.
//!
//! Progress: try_post() lock-free; take() waits for a sender between (X) and (P), while later slots
//! are full. Ordering labels: (P, T) and (F, R) as in core/mailbox.hpp; (X) reserve.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/cpu.hpp"
#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"
#include "core/mailbox.hpp"
#include "core/sync.hpp"

namespace sorrel::core::study {

template <class Sync, std::uint32_t slot_count = 256, std::size_t slot_payload_bytes = 612>
class SharedMailbox {
  static_assert((slot_count & (slot_count - 1)) == 0);

  using Payload = std::array<std::byte, slot_payload_bytes>;

  struct alignas(2 * cache_line_bytes) Slot {
    typename Sync::template Plain<Record> record;
    /// Position of the record it holds, counted from 1; 0 = never used.
    typename Sync::template Atomic<std::uint32_t> sequence;
    typename Sync::template Plain<Payload> payload;
  };

 public:
  /// Any worker. Returns false if the queue is full or the payload too long: nothing was sent.
  bool try_post(const Record& record, const void* payload) {
    if (record.payload_bytes > slot_payload_bytes) return false;
    // Relaxed: (R) and (P) order what lies in the slots.
    std::uint32_t position = tail_.load(Order::relaxed);
    do {
      // (R) acquire, pairs with (F): the consumer has read what is overwritten below.
      const auto taken = static_cast<std::uint32_t>(taken_.load(Order::acquire));
      if (position - taken >= slot_count) return false;
      // (X) relaxed: the position is this sender's, and nothing is read through it.
    } while (!tail_.compare_exchange(position, position + 1, Order::relaxed));
    Slot& slot = slots_[position % slot_count];
    slot.record.mutate() = record;
    if (payload != nullptr) copy_bytes(slot.payload.mutate().data(), payload, record.payload_bytes);
    // (P) release, pairs with (T): publishes the record and its payload.
    slot.sequence.store(position + 1, Order::release);
    return true;
  }

  void fetch_record() const { arch::prefetch(&slots_[head_ % slot_count]); }

  /// Whether a record waits.
  [[nodiscard]] bool has_record() const {
    // Relaxed: a hint; take() loads again.
    return slots_[head_ % slot_count].sequence.load(Order::relaxed) == head_ + 1;
  }

  /// Passes the oldest record to consume(record, payload), or returns false if there is none.
  template <class Consume>
  bool take(Consume&& consume, Flow /*flow*/ = Flow::single) {
    Slot& slot = slots_[head_ % slot_count];
    // (T) acquire, pairs with (P).
    if (slot.sequence.load(Order::acquire) != head_ + 1) return false;
    consume(slot.record.get(), slot.payload.get().data());
    ++head_;
    // (F) release, pairs with (R): all reads of the slot are done.
    taken_.store(head_, Order::release);
    return true;
  }

 private:
  // Any sender.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint32_t> tail_;
  // Receiver only.
  alignas(cache_line_bytes) std::uint32_t head_ = 0;
  // Written by the receiver, read by senders.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint64_t> taken_;
  // Ownership passes with the slots' sequence.
  alignas(cache_line_bytes) std::array<Slot, slot_count> slots_;
};

}  // namespace sorrel::core::study
