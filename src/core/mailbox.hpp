//! Mailbox - the records that one worker sends to another: a ring buffer with one producer and one
//! consumer, without read-modify-writes.
//!
//! A record is a slot of two cache lines: its kind, four words, and up to 100 bytes of payload, the
//! first 36 of them in the first line. A longer payload goes into a byte ring beside the slots.
//! Only the sending worker may call try_post(), only the receiving worker take(). Order is kept. A
//! mailbox wakes no thread (core/parker.hpp) and knows no message format (the runner of the kind
//! does). It holds no pointers, so it may lie in memory shared by processes; all zero is the empty
//! mailbox.
//!
//! Progress: both wait-free. Limit: slot_count records and payload_ring_bytes bytes; try_post() of
//! a full mailbox returns false. Ordering labels: (P) publish and (T) take, the slot's sequence;
//! (F) free and (R) reuse, the consumer's counters. Source: Lamport 1977, ring with single producer
//! and consumer; cached indices as in FastForward (Giacomoni et al. 2008): a slot's sequence shows
//! that it is full, so a short record costs one cache-line transfer. Why not one queue per rank:
//! docs/decisions/0002-mailbox-per-worker-pair.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arch/cpu.hpp"
#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"
#include "core/sync.hpp"

namespace sorrel::core {

class Worker;
struct Record;

/// Executes a record on the receiving worker, outside any fiber: must not suspend. `payload` is
/// valid during the call only.
using RecordRunner = void (*)(Worker& receiver, const Record& record, const std::byte* payload);

/// Selects the runner: an index into the scheduler's table (Scheduler::set_runner).
using RecordKind = std::uint16_t;

/// A RemoteCall by address: between workers of one process only.
inline constexpr RecordKind remote_call_kind = 0;
/// First kind of the transport's packets; the kinds before belong to the layers.
inline constexpr RecordKind first_packet_kind = 16;
inline constexpr RecordKind record_kind_count = 48;

inline constexpr std::size_t record_inline_bytes = 100;

/// What the consumer of a mailbox expects after the record that it takes: nothing, or more at once.
enum class Flow : std::uint8_t { single, stream };

/// Contents of a slot besides its sequence number.
struct Record {
  RecordKind kind = remote_call_kind;
  /// Number of the sending worker in the job, where the kind needs it.
  std::uint16_t origin = 0;
  std::array<std::uint32_t, 4> words{};
  std::uint32_t payload_bytes = 0;
};

template <class Sync,
          std::uint32_t slot_count = 256,
          std::uint32_t ring_bytes = 16384,
          std::size_t inline_bytes = record_inline_bytes,
          std::size_t counter_alignment = 2 * cache_line_bytes>
class BasicMailbox {
  static_assert((slot_count & (slot_count - 1)) == 0 && (ring_bytes & (ring_bytes - 1)) == 0);

  using InlinePayload = std::array<std::byte, inline_bytes>;

  struct alignas(2 * cache_line_bytes) Slot {
    typename Sync::template Plain<Record> record;
    /// Position of the record it holds, counted from 1; 0 = never used.
    typename Sync::template Atomic<std::uint32_t> sequence;
    typename Sync::template Plain<InlinePayload> inline_payload;
  };

 public:
  static constexpr std::size_t slot_bytes = sizeof(Slot);

  /// A payload no longer than this always fits into an empty mailbox.
  static constexpr std::uint32_t payload_bytes_max = ring_bytes / 4;

  /// Producer only. Returns false if the mailbox is full: nothing was sent.
  [[gnu::always_inline]] bool try_post(const Record& record, const void* payload) {
    std::uint32_t start = payload_tail_;
    const std::uint32_t ring_use =
        record.payload_bytes <= inline_bytes ? 0 : padded(record.payload_bytes);
    // A payload is contiguous: if it does not fit before the end of the ring, it starts at the
    // beginning.
    if (ring_use != 0 && start % ring_bytes + ring_use > ring_bytes)
      start += ring_bytes - start % ring_bytes;
    const std::uint32_t payload_end = start + ring_use;
    if (tail_ - free_slots_seen_ >= slot_count || payload_end - free_bytes_seen_ > ring_bytes) {
      // (R) acquire, pairs with (F): the consumer has read what is overwritten below.
      const std::uint64_t freed = freed_.load(Order::acquire);
      free_slots_seen_ = static_cast<std::uint32_t>(freed >> 32);
      free_bytes_seen_ = static_cast<std::uint32_t>(freed);
      if (tail_ - free_slots_seen_ >= slot_count || payload_end - free_bytes_seen_ > ring_bytes)
        return false;
    }
    Slot& slot = slot_at(tail_);
    slot.record.mutate() = record;
    InlinePayload& inline_payload = slot.inline_payload.mutate();
    if (ring_use == 0) {
      copy_inline(inline_payload.data(), payload, record.payload_bytes);
    } else {
      // The position in the ring is stored in place of the payload.
      std::memcpy(inline_payload.data(), &payload_end, sizeof payload_end);
      std::byte* place = payload_ring_.write(start % ring_bytes, ring_use);
      if (payload != nullptr) copy_to_ring(place, payload, record.payload_bytes);
    }
    payload_tail_ = payload_end;
    ++tail_;
    // (P) release, pairs with (T): publishes the record and its payload.
    slot.sequence.store(tail_, Order::release);
    fetch_slot_for_write(tail_ + fetched_ahead, record.payload_bytes);
    return true;
  }

  /// Consumer only. Prefetches the lines of the next record, present or not.
  void fetch_record() const { fetch_slot(head_, payload_bytes_seen_); }

  /// Consumer only. Whether a record waits.
  [[nodiscard]] bool has_record() const {
    // Relaxed: a hint; take() loads again.
    return slot_at(head_).sequence.load(Order::relaxed) == head_ + 1;
  }

  /// Consumer only. Passes the oldest record to consume(record, payload), or returns false if there
  /// is none.
  template <class Consume>
  bool take(Consume&& consume, Flow flow = Flow::single) {
    return take_if(
        [&](const Record& record, const std::byte* payload) {
          consume(record, payload);
          return true;
        },
        flow);
  }

  /// Consumer only. The same, but the record stays if consume() returns false; then so does this.
  template <class Consume>
  bool take_if(Consume&& consume, Flow flow = Flow::single) {
    Slot& slot = slot_at(head_);
    // (T) acquire, pairs with (P).
    if (slot.sequence.load(Order::acquire) != head_ + 1) return false;
    const Record& record = slot.record.get();
    const InlinePayload& inline_payload = slot.inline_payload.get();
    const std::byte* payload = inline_payload.data();
    // In a burst, the next record comes from the other core while this one is consumed.
    payload_bytes_seen_ = record.payload_bytes;
    fetch_slot(head_ + 1, payload_bytes_seen_);
    if (record.payload_bytes > inline_bytes) {
      const std::uint32_t ring_use = padded(record.payload_bytes);
      std::memcpy(&payload_head_, inline_payload.data(), sizeof payload_head_);
      payload = payload_ring_.read((payload_head_ - ring_use) % ring_bytes, ring_use);
    }
    if (!consume(record, payload)) return false;
    // In a stream this core takes the slot's line for itself: processors ignore a prefetch for
    // writing of a line that is in the own cache, shared or not, so the producer's would do
    // nothing. A single record is not worth it: the answer's stores would wait for the line.
    if (flow == Flow::stream) slot.record.mutate().kind = remote_call_kind;
    ++head_;
    // (F) release, pairs with (R): all reads of the slot and of the payload are done.
    freed_.store(std::uint64_t{head_} << 32 | payload_head_, Order::release);
    return true;
  }

 private:
  /// How many slots ahead lines are prefetched: about the time of a transfer.
  static constexpr std::uint32_t fetched_ahead = 2;

  /// Distance of one record's slot to the next one's, in slots: on another page, where the
  /// consumer's processor does not prefetch on its own. It would take the lines that the producer
  /// is about to write. Odd, so that all slots take turns.
  static constexpr std::uint32_t slot_step = 33;

  Slot& slot_at(std::uint32_t position) { return slots_[position * slot_step % slot_count]; }

  [[nodiscard]] const Slot& slot_at(std::uint32_t position) const {
    return slots_[position * slot_step % slot_count];
  }

  static constexpr std::uint32_t padded(std::uint32_t bytes) {
    return (bytes + 15) & ~std::uint32_t{15};
  }

  static void copy_inline(std::byte* target, const void* source, std::uint32_t bytes) {
    if (source == nullptr) return;
    // A double is the most common small message: not worth a call of memcpy.
    if (bytes == 8) {
      std::memcpy(target, source, 8);
    } else {
      std::memcpy(target, source, bytes);
    }
  }

  /// Not inlined: the compiler would check a long copy against the buffers of callers that post
  /// short payloads only.
  [[gnu::noinline]] static void copy_to_ring(std::byte* place,
                                             const void* payload,
                                             std::uint32_t bytes) {
    copy_bytes(place, payload, bytes);
  }

  /// Payload bytes in the first line of a slot.
  static constexpr std::size_t first_line_bytes =
      inline_bytes > cache_line_bytes ? inline_bytes - cache_line_bytes : inline_bytes;

  /// Calls fetch(address) for the lines of a slot that a record of that payload takes.
  template <class Fetch>
  void for_lines(std::uint32_t position, std::uint32_t payload_bytes, Fetch&& fetch) const {
    const void* slot = &slot_at(position);
    fetch(slot);
    if (payload_bytes > first_line_bytes && payload_bytes <= inline_bytes)
      fetch(static_cast<const std::byte*>(slot) + cache_line_bytes);
  }

  void fetch_slot(std::uint32_t position, std::uint32_t payload_bytes) const {
    for_lines(position, payload_bytes, [](const void* line) { arch::prefetch(line); });
  }

  /// The consumer's core has read every slot of the last round: in a burst of records each store
  /// would wait for its line to come back. A record is mostly as long as the last one.
  void fetch_slot_for_write(std::uint32_t position, std::uint32_t payload_bytes) const {
    for_lines(position, payload_bytes, [](const void* line) { arch::prefetch_for_write(line); });
  }

  // Processors prefetch lines in pairs, so these are two lines apart.
  // Producer only.
  alignas(counter_alignment) std::uint32_t tail_ = 0;
  std::uint32_t payload_tail_ = 0;
  std::uint32_t free_slots_seen_ = 0;
  std::uint32_t free_bytes_seen_ = 0;

  // Consumer only.
  alignas(counter_alignment) std::uint32_t head_ = 0;
  std::uint32_t payload_head_ = 0;
  /// Payload bytes of the last record, as an estimate of the next one.
  std::uint32_t payload_bytes_seen_ = 0;

  // Written by the consumer, read by the producer when the mailbox seems full. Upper half: records
  // taken; lower half: end of the payload bytes released.
  alignas(counter_alignment) typename Sync::template Atomic<std::uint64_t> freed_;

  // Ownership passes with the slots' sequence.
  alignas(cache_line_bytes) std::array<Slot, slot_count> slots_;
  alignas(cache_line_bytes) typename Sync::template PlainBytes<ring_bytes> payload_ring_;
};

using Mailbox = BasicMailbox<StdSync>;

// A larger slot would cost one more transfer for each record.
static_assert(Mailbox::slot_bytes == 2 * cache_line_bytes);

}  // namespace sorrel::core
