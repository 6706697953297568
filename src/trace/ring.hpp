//! Ring - the latest events of one worker. One writer, the worker's thread; any thread may copy the
//! latest records, also a signal handler.
//!
//! Overwrites the oldest records. Wait-free on both sides, no allocation after construction.
//! A sequence lock without a lock word (Boehm, "Can seqlocks get along with programming language
//! memory models?", 2012). Ordering labels: (P) a record is published, (O) a record is overwritten;
//! README.md has the proof.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/record.hpp"

namespace sorrel::trace {

template <class Sync, std::uint32_t slot_count>
class BasicRing {
  using Order = typename Sync::Order;

 public:
  static constexpr std::size_t capacity = slot_count;

  /// The writer's thread.
  void add(const Record& record) {
    const std::uint32_t count = count_.load(Order::relaxed);
    Slot& slot = slots_[count % slot_count];
    // (O) release: a reader that finds one of these values also finds this count, or a later one.
    slot[0].store(record.time_and_kind, Order::release);
    slot[1].store(record.subject, Order::release);
    slot[2].store(record.first, Order::release);
    slot[3].store(record.second, Order::release);
    // (P) release.
    count_.store(count + 1, Order::release);
  }

  /// Any thread: copies the latest records, oldest first, into the end of `to`, and returns that
  /// part. `to` has fewer elements than the ring. Records that are overwritten meanwhile are left
  /// out. Safe in a signal handler.
  [[nodiscard]] std::span<Record> copy_latest(std::span<Record> to) const {
    // (P) acquire: the records before are complete.
    const std::uint32_t end = count_.load(Order::acquire);
    const auto wanted = std::min(end, static_cast<std::uint32_t>(to.size()));
    const std::span<Record> copied = to.last(wanted);
    for (std::uint32_t i = 0; i < wanted; ++i) {
      const Slot& slot = slots_[(end - wanted + i) % slot_count];
      // (O) acquire.
      copied[i] = {.time_and_kind = slot[0].load(Order::acquire),
                   .subject = slot[1].load(Order::acquire),
                   .first = slot[2].load(Order::acquire),
                   .second = slot[3].load(Order::acquire)};
    }
    const std::uint32_t added = count_.load(Order::relaxed) - end;
    // The slot after the last published record may be half written.
    const std::uint32_t kept = slot_count - std::min(added + 1, slot_count);
    return copied.last(std::min(wanted, kept));
  }

 private:
  using Slot = std::array<typename Sync::template Atomic<std::uint64_t>, 4>;
  static_assert(slot_count > 1 && (slot_count & (slot_count - 1)) == 0);

  /// Records added so far, modulo 2^32.
  typename Sync::template Atomic<std::uint32_t> count_{0};
  std::array<Slot, slot_count> slots_;
};

}  // namespace sorrel::trace
