#include "mpi/p2p/match_table.hpp"

#include "base/check.hpp"

namespace sorrel::mpi {

void MatchTable::add_to_buckets(MatchEntry& entry) {
  if (lone_ != nullptr) {
    append(*lone_);
    lone_ = nullptr;
  }
  append(entry);
}

void MatchTable::append(MatchEntry& entry) {
  if (count_ > 2 * bucket_count_) grow();
  entry.order = next_order_++;
  entry.arrival_previous = arrival_last_;
  entry.arrival_next = nullptr;
  (arrival_last_ == nullptr ? arrival_first_ : arrival_last_->arrival_next) = &entry;
  arrival_last_ = &entry;
  link(entry);
  ++wildcard_counts_[wildcards_of(entry.envelope)];
}

void MatchTable::link(MatchEntry& entry) {
  Bucket& bucket = bucket_of(entry.envelope);
  entry.bucket_previous = bucket.last;
  entry.bucket_next = nullptr;
  (bucket.last == nullptr ? bucket.first : bucket.last->bucket_next) = &entry;
  bucket.last = &entry;
}

void MatchTable::remove_from_buckets(MatchEntry& entry) {
  Bucket& bucket = bucket_of(entry.envelope);
  (entry.bucket_previous == nullptr ? bucket.first : entry.bucket_previous->bucket_next) =
      entry.bucket_next;
  (entry.bucket_next == nullptr ? bucket.last : entry.bucket_next->bucket_previous) =
      entry.bucket_previous;
  (entry.arrival_previous == nullptr ? arrival_first_ : entry.arrival_previous->arrival_next) =
      entry.arrival_next;
  (entry.arrival_next == nullptr ? arrival_last_ : entry.arrival_next->arrival_previous) =
      entry.arrival_previous;
  --wildcard_counts_[wildcards_of(entry.envelope)];
}

void MatchTable::replace(MatchEntry& old, MatchEntry& entry) {
  SORREL_ASSERT(old.is_linked && !entry.is_linked && old.envelope == entry.envelope);
  entry = old;
  old.is_linked = false;
  if (&old == lone_) {
    lone_ = &entry;
    return;
  }
  Bucket& bucket = bucket_of(old.envelope);
  (entry.bucket_previous == nullptr ? bucket.first : entry.bucket_previous->bucket_next) = &entry;
  (entry.bucket_next == nullptr ? bucket.last : entry.bucket_next->bucket_previous) = &entry;
  (entry.arrival_previous == nullptr ? arrival_first_ : entry.arrival_previous->arrival_next) =
      &entry;
  (entry.arrival_next == nullptr ? arrival_last_ : entry.arrival_next->arrival_previous) = &entry;
}

MatchEntry* MatchTable::find_receive_in_buckets(const Envelope& envelope) const {
  MatchEntry* oldest = wildcard_counts_[none] == 0 ? nullptr : find_exactly(envelope);
  if (count_ == wildcard_counts_[none]) [[likely]]
    return oldest;
  const auto consider = [&](Wildcards wildcards, Envelope key) {
    if (wildcard_counts_[wildcards] == 0) return;
    MatchEntry* found = find_exactly(key);
    if (found != nullptr && (oldest == nullptr || found->order < oldest->order)) oldest = found;
  };
  if (envelope.is_user_tag()) {
    consider(tag, {.context = envelope.context, .source = envelope.source, .tag = MPI_ANY_TAG});
    consider(both, {.context = envelope.context, .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG});
  }
  consider(source, {.context = envelope.context, .source = MPI_ANY_SOURCE, .tag = envelope.tag});
  return oldest;
}

MatchEntry* MatchTable::find_message_in_buckets(const Envelope& wanted) const {
  if (!wanted.has_wildcard()) return find_exactly(wanted);
  MatchEntry* entry = arrival_first_;
  while (entry != nullptr && !entry->envelope.satisfies(wanted))
    entry = entry->arrival_next;
  return entry;
}

void MatchTable::grow() {
  bucket_count_ = bucket_count_ == 0 ? bucket_count_min : 2 * bucket_count_;
  buckets_ = std::make_unique<Bucket[]>(bucket_count_);
  // In order of arrival, so that every bucket is in order again.
  for (MatchEntry* entry = arrival_first_; entry != nullptr; entry = entry->arrival_next) {
    link(*entry);
  }
}

}  // namespace sorrel::mpi
