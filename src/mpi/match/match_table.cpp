#include "mpi/match/match_table.hpp"

#include <utility>

namespace sorrel::mpi {

void MatchBuckets::grow() {
  Bucket* const old_buckets = buckets_;
  const std::uint32_t old_mask = mask_;
  auto grown = std::make_unique<Bucket[]>(std::size_t{4} * (old_mask + 1));
  buckets_ = grown.get();
  mask_ = 4 * old_mask + 3;
  // Bucket by bucket: equal envelopes share one, so that their order stays.
  for (std::uint32_t i = 0; i <= old_mask; ++i) {
    while (MatchEntry* entry = old_buckets[i].pop_front())
      bucket_of(entry->envelope).push_back(*entry);
  }
  more_buckets_ = std::move(grown);
}

MatchEntry* PostedTable::take_beside_wildcards(Envelope envelope) {
  MatchEntry* oldest = buckets_.find(envelope);
  const auto consider = [&](Wildcards wildcards, const Envelope& key) {
    if (counts_by_kind_[wildcards] == 0) return;
    MatchEntry* found = buckets_.find(key);
    if (found != nullptr && (oldest == nullptr || found->order < oldest->order)) oldest = found;
  };
  if (envelope.is_user_tag()) {
    consider(tag, {.context = envelope.context, .source = envelope.source, .tag = MPI_ANY_TAG});
    consider(both, {.context = envelope.context, .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG});
  }
  consider(source, {.context = envelope.context, .source = MPI_ANY_SOURCE, .tag = envelope.tag});
  if (oldest != nullptr) remove(*oldest);
  return oldest;
}

void PostedTable::check_invariants() const {
  std::array<std::int32_t, kind_count> by_kind{};
  buckets_.check_each([&](const MatchEntry& entry, const MatchEntry* last) {
    SORREL_CHECK(entry.order < next_order_);
    SORREL_CHECK(last == nullptr || last->order < entry.order);
    if (entry.envelope.has_wildcard()) ++by_kind[wildcards_of(entry.envelope)];
  });
  SORREL_CHECK(by_kind == counts_by_kind_);
  SORREL_CHECK(by_kind[tag] + by_kind[source] + by_kind[both] == wildcard_count_);
}

void UnexpectedTable::check_invariants() const {
  std::uint32_t arrived = 0;
  arrivals_.check_each([&](const MatchEntry& entry) {
    SORREL_CHECK(entry.is_linked() && !entry.envelope.has_wildcard());
    ++arrived;
  });
  buckets_.check_each([](const MatchEntry&, const MatchEntry*) {});
  SORREL_CHECK(arrived == count(), "%u arrivals, %u in buckets", arrived, count());
}

}  // namespace sorrel::mpi
