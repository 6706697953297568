//! PostedTable and UnexpectedTable - the posted receives and the unexpected messages of one rank,
//! found by (context, source, tag).
//!
//! Owner's worker only. Hash tables of intrusive entries: finding and removing cost O(1) at any
//! depth. A receive with wildcards is entered under its wildcards, so that a message checks at most
//! four keys and takes the oldest entry. A wildcard receive searches the unexpected messages in the
//! order of arrival. As MPI requires, the oldest matching entry wins. The tables allocate only when
//! they grow; a table of few entries owns no memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/intrusive_list.hpp"
#include "mpi.h"

namespace sorrel::mpi {

/// The envelope of a message, or of a receive. `source` is a rank of the communicator.
struct Envelope {
  std::uint32_t context;
  std::int32_t source;
  std::int32_t tag;

  friend bool operator==(const Envelope&, const Envelope&) = default;

  [[nodiscard]] bool has_wildcard() const { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }

  /// Tags below zero are internal: MPI_ANY_TAG does not match them.
  [[nodiscard]] bool is_user_tag() const { return tag >= 0; }

  /// Whether a message with this envelope matches a receive for `wanted`.
  [[nodiscard]] bool satisfies(const Envelope& wanted) const {
    return context == wanted.context &&
           (wanted.source == MPI_ANY_SOURCE || wanted.source == source) &&
           (wanted.tag == tag || (wanted.tag == MPI_ANY_TAG && is_user_tag()));
  }
};

/// An element of a table.
struct MatchEntry : ListNode<struct InBucket>, ListNode<struct InArrivals> {
  Envelope envelope;
  /// Order of arrival among posted receives. Unset elsewhere.
  std::uint64_t order;

  [[nodiscard]] bool is_linked() const { return ListNode<InBucket>::is_linked(); }
};

/// Entries by a hash of their envelope. Entries with the same envelope stay in the order of adding.
class MatchBuckets {
 public:
  MatchBuckets() = default;
  MatchBuckets(const MatchBuckets&) = delete;
  MatchBuckets& operator=(const MatchBuckets&) = delete;

  [[nodiscard]] std::uint32_t count() const { return count_; }

  void add(MatchEntry& entry) {
    if (++count_ > 2 * (mask_ + 1)) [[unlikely]]
      grow();
    bucket_of(entry.envelope).push_back(entry);
  }

  void remove(MatchEntry& entry) {
    SORREL_AUDIT(holds(entry), "the entry is in another table, or its envelope has changed");
    --count_;
    Bucket::remove(entry);
  }

  static void replace(MatchEntry& old, MatchEntry& entry) { Bucket::replace(old, entry); }

  /// The oldest entry with exactly this envelope; null if there is none.
  [[nodiscard]] MatchEntry* find(const Envelope& envelope) const {
    return find_if(envelope, [](const MatchEntry&) { return true; });
  }

  /// The oldest of these entries for which predicate(entry) holds.
  template <class Predicate>
  [[nodiscard]] MatchEntry* find_if(const Envelope& envelope, Predicate&& predicate) const {
    return bucket_of(envelope).find_if(
        [&](const MatchEntry& entry) { return entry.envelope == envelope && predicate(entry); });
  }

  /// Each entry is in the bucket of its envelope, and the count is right. Calls visit(entry, last)
  /// for each, with the entry before it in its bucket or null.
  template <class Visit>
  void check_each(Visit&& visit) const {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i <= mask_; ++i) {
      const MatchEntry* last = nullptr;
      buckets_[i].check_each([&](const MatchEntry& entry) {
        SORREL_CHECK(&bucket_of(entry.envelope) == &buckets_[i]);
        visit(entry, last);
        last = &entry;
        ++found;
      });
    }
    SORREL_CHECK(found == count_, "%u entries, counted as %u", found, count_);
  }

 private:
  using Bucket = IntrusiveList<MatchEntry, InBucket>;

  [[nodiscard]] bool holds(const MatchEntry& entry) const {
    return bucket_of(entry.envelope).find_if([&](const MatchEntry& held) {
      return &held == &entry;
    }) != nullptr;
  }

  static std::uint64_t hash(const Envelope& envelope) {
    // Two odd multipliers; the high half of the product is well mixed.
    const std::uint64_t a =
        (std::uint64_t{envelope.context} << 32 | static_cast<std::uint32_t>(envelope.source));
    const std::uint64_t b = static_cast<std::uint32_t>(envelope.tag);
    const std::uint64_t mixed = (a * 0x9e3779b97f4a7c15U) ^ (b * 0xd6e8feb86659fd93U);
    return mixed ^ (mixed >> 32);
  }

  [[nodiscard]] Bucket& bucket_of(const Envelope& envelope) const {
    return buckets_[hash(envelope) & mask_];
  }

  [[gnu::cold]] void grow();

  Bucket* buckets_ = &first_bucket_;
  /// One less than the number of buckets, a power of two.
  std::uint32_t mask_ = 0;
  std::uint32_t count_ = 0;
  /// Suffices for the few entries that most tables have at most.
  Bucket first_bucket_;
  std::unique_ptr<Bucket[]> more_buckets_;
};

class PostedTable {
 public:
  [[nodiscard]] std::uint32_t count() const { return buckets_.count(); }

  void add(MatchEntry& receive) {
    receive.order = next_order_++;
    if (receive.envelope.has_wildcard()) [[unlikely]]
      count_wildcards(receive.envelope, 1);
    buckets_.add(receive);
  }

  void remove(MatchEntry& receive) {
    if (receive.envelope.has_wildcard()) [[unlikely]]
      count_wildcards(receive.envelope, -1);
    buckets_.remove(receive);
  }

  /// Removes the oldest receive that matches the message `envelope`; null if there is none.
  [[nodiscard]] MatchEntry* take_for(const Envelope& envelope) {
    SORREL_ASSERT(!envelope.has_wildcard());
    if (count() == 0) return nullptr;
    if (wildcard_count_ != 0) [[unlikely]]
      // A temporary copy: otherwise the envelope would be kept in memory for it in every case.
      return take_beside_wildcards({envelope.context, envelope.source, envelope.tag});
    MatchEntry* receive = buckets_.find(envelope);
    if (receive != nullptr) [[likely]]
      buckets_.remove(*receive);
    return receive;
  }

  /// Receives with equal envelopes are in the order of posting; wildcards are counted right.
  void check_invariants() const;

 private:
  enum Wildcards : std::uint8_t { none, tag, source, both, kind_count };

  static Wildcards wildcards_of(const Envelope& envelope) {
    return static_cast<Wildcards>((envelope.source == MPI_ANY_SOURCE ? source : none) |
                                  (envelope.tag == MPI_ANY_TAG ? tag : none));
  }

  void count_wildcards(const Envelope& envelope, std::int32_t change) {
    wildcard_count_ += change;
    counts_by_kind_[wildcards_of(envelope)] += change;
    SORREL_ASSERT(counts_by_kind_[wildcards_of(envelope)] >= 0);
  }

  [[nodiscard]] MatchEntry* take_beside_wildcards(Envelope envelope);

  MatchBuckets buckets_;
  std::uint64_t next_order_ = 0;
  /// Number of receives with wildcards: in total, and by kind of wildcard.
  std::int32_t wildcard_count_ = 0;
  std::array<std::int32_t, kind_count> counts_by_kind_{};
};

class UnexpectedTable {
 public:
  [[nodiscard]] std::uint32_t count() const { return buckets_.count(); }

  [[nodiscard]] MatchEntry* oldest() { return arrivals_.front(); }

  /// visit(entry) in the order of arrival.
  template <class Visit>
  void for_each(Visit&& visit) const {
    static_cast<void>(arrivals_.find_if([&](const MatchEntry& message) {
      visit(message);
      return false;
    }));
  }

  void add(MatchEntry& message) {
    SORREL_ASSERT(!message.envelope.has_wildcard());
    arrivals_.push_back(message);
    buckets_.add(message);
  }

  void remove(MatchEntry& message) {
    Arrivals::remove(message);
    buckets_.remove(message);
  }

  /// Puts `message` at the position of `old`; same envelope.
  static void replace(MatchEntry& old, MatchEntry& message) {
    SORREL_ASSERT(old.envelope == message.envelope);
    Arrivals::replace(old, message);
    MatchBuckets::replace(old, message);
  }

  /// The oldest message that matches `wanted` (wildcards allowed); null if there is none.
  [[nodiscard]] MatchEntry* find_for(const Envelope& wanted) const {
    if (count() == 0) return nullptr;
    if (!wanted.has_wildcard()) [[likely]]
      return buckets_.find(wanted);
    return arrivals_.find_if(
        [&](const MatchEntry& message) { return message.envelope.satisfies(wanted); });
  }

  /// The oldest message with exactly this envelope for which predicate(entry) holds.
  template <class Predicate>
  [[nodiscard]] MatchEntry* find_if(const Envelope& envelope, Predicate&& predicate) const {
    return buckets_.find_if(envelope, predicate);
  }

  /// As find_for(), and removes it.
  [[nodiscard]] MatchEntry* take_for(const Envelope& wanted) {
    MatchEntry* message = find_for(wanted);
    if (message != nullptr) remove(*message);
    return message;
  }

  /// Each message is in the list of arrivals and in its bucket, and has no wildcards.
  void check_invariants() const;

 private:
  using Arrivals = IntrusiveList<MatchEntry, InArrivals>;

  MatchBuckets buckets_;
  Arrivals arrivals_;
};

}  // namespace sorrel::mpi
