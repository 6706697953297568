//! MatchTable - the posted receives, or the unexpected messages, of one rank, found by (context,
//! source, tag).
//!
//! Owner's worker only. A hash table of intrusive entries: finding and removing cost O(1) whatever
//! the depth. Receives with wildcards are entered under their wildcard, so that a message looks
//! under at most four keys and takes the oldest; a wildcard receive looks through the unexpected
//! messages in the order they came. MPI's order is kept: among the entries that match, the oldest
//! wins. Allocates only when it grows; an empty table owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/check.hpp"
#include "mpi.h"

namespace sorrel::mpi {

/// What a message carries and what a receive asks for. `source` is a rank of the communicator.
struct Envelope {
  std::uint32_t context = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;

  friend bool operator==(const Envelope&, const Envelope&) = default;

  [[nodiscard]] bool has_wildcard() const { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

  /// Tags below zero are the library's own: MPI_ANY_TAG does not mean them.
  [[nodiscard]] bool is_user_tag() const { return tag >= 0; }

  /// Whether a message with this envelope satisfies a receive that asks for `wanted`.
  [[nodiscard]] bool satisfies(const Envelope& wanted) const {
    return context == wanted.context &&
           (wanted.source == MPI_ANY_SOURCE || wanted.source == source) &&
           (wanted.tag == tag || (wanted.tag == MPI_ANY_TAG && is_user_tag()));
  }
};

/// An element of a MatchTable.
struct MatchEntry {
  Envelope envelope;
  bool is_linked = false;
  // Meaningful while it is linked, so nobody pays for clearing them.
  /// Order of arrival in its table.
  std::uint64_t order;
  MatchEntry* bucket_previous;
  MatchEntry* bucket_next;
  MatchEntry* arrival_previous;
  MatchEntry* arrival_next;
};

class MatchTable {
 public:
  MatchTable() = default;
  MatchTable(const MatchTable&) = delete;
  MatchTable& operator=(const MatchTable&) = delete;

  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// The oldest entry, and from there on in order of arrival by arrival_next.
  [[nodiscard]] MatchEntry* oldest() const { return lone_ != nullptr ? lone_ : arrival_first_; }

  void add(MatchEntry& entry) {
    SORREL_ASSERT(!entry.is_linked);
    entry.is_linked = true;
    if (count_++ == 0) {
      entry.arrival_next = nullptr;
      lone_ = &entry;
    } else {
      add_to_buckets(entry);
    }
  }

  void remove(MatchEntry& entry) {
    SORREL_ASSERT(entry.is_linked);
    entry.is_linked = false;
    --count_;
    if (&entry == lone_) {
      lone_ = nullptr;
    } else {
      remove_from_buckets(entry);
    }
  }

  /// Puts `entry` where `old` stands; same envelope.
  void replace(MatchEntry& old, MatchEntry& entry);

  /// The oldest posted receive that the message `envelope` (no wildcards) satisfies; null when
  /// none.
  [[nodiscard]] MatchEntry* find_receive_for(const Envelope& envelope) const {
    if (lone_ != nullptr) return envelope.satisfies(lone_->envelope) ? lone_ : nullptr;
    return count_ == 0 ? nullptr : find_receive_in_buckets(envelope);
  }

  /// The oldest message that satisfies `wanted` (wildcards allowed); null when none.
  [[nodiscard]] MatchEntry* find_message_for(const Envelope& wanted) const {
    if (lone_ != nullptr) return lone_->envelope.satisfies(wanted) ? lone_ : nullptr;
    return count_ == 0 ? nullptr : find_message_in_buckets(wanted);
  }

 private:
  struct Bucket {
    MatchEntry* first = nullptr;
    MatchEntry* last = nullptr;
  };

  static constexpr std::uint32_t bucket_count_min = 8;

  enum Wildcards : std::uint8_t { none, tag, source, both, kind_count };

  static std::uint64_t hash(const Envelope& envelope) {
    // Two odd multipliers; the high half of the product is well mixed.
    const std::uint64_t a =
        (std::uint64_t{envelope.context} << 32 | static_cast<std::uint32_t>(envelope.source));
    const std::uint64_t b = static_cast<std::uint32_t>(envelope.tag);
    const std::uint64_t mixed = (a * 0x9e3779b97f4a7c15U) ^ (b * 0xd6e8feb86659fd93U);
    return mixed ^ (mixed >> 32);
  }

  static Wildcards wildcards_of(const Envelope& envelope) {
    return static_cast<Wildcards>((envelope.source == MPI_ANY_SOURCE ? source : none) |
                                  (envelope.tag == MPI_ANY_TAG ? tag : none));
  }

  [[nodiscard]] Bucket& bucket_of(const Envelope& envelope) const {
    return buckets_[hash(envelope) & (bucket_count_ - 1)];
  }

  [[nodiscard]] MatchEntry* find_exactly(const Envelope& envelope) const {
    MatchEntry* entry = bucket_of(envelope).first;
    while (entry != nullptr && entry->envelope != envelope)
      entry = entry->bucket_next;
    return entry;
  }

  void add_to_buckets(MatchEntry& entry);
  void remove_from_buckets(MatchEntry& entry);
  [[nodiscard]] MatchEntry* find_receive_in_buckets(const Envelope& envelope) const;
  [[nodiscard]] MatchEntry* find_message_in_buckets(const Envelope& wanted) const;
  void append(MatchEntry& entry);
  void link(MatchEntry& entry);
  void grow();

  /// An entry that came to an empty table stays here until a second one comes: most tables never
  /// see one.
  MatchEntry* lone_ = nullptr;
  std::unique_ptr<Bucket[]> buckets_;
  std::uint32_t bucket_count_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t next_order_ = 0;
  std::array<std::uint32_t, kind_count> wildcard_counts_{};
  MatchEntry* arrival_first_ = nullptr;
  MatchEntry* arrival_last_ = nullptr;
};

}  // namespace sorrel::mpi
