#include "mpi/match/match_table.hpp"

#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <list>
#include <string>

#include "base/prng.hpp"

namespace sorrel::mpi {
namespace {

std::uint64_t seed() {
  const char* given = std::getenv("SORREL_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

MatchEntry entry(std::uint32_t context, std::int32_t source, std::int32_t tag) {
  MatchEntry made;
  made.envelope = {.context = context, .source = source, .tag = tag};
  return made;
}

TEST(MatchTable, IsEmptyAtFirst) {
  PostedTable posted;
  EXPECT_EQ(posted.count(), 0U);
  EXPECT_EQ(posted.take_for({.context = 0, .source = 0, .tag = 0}), nullptr);
  UnexpectedTable unexpected;
  EXPECT_EQ(unexpected.count(), 0U);
  EXPECT_EQ(unexpected.oldest(), nullptr);
  EXPECT_EQ(unexpected.take_for({.context = 0, .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG}),
            nullptr);
}

TEST(MatchTable, GivesTheOldestOfEqualEnvelopes) {
  PostedTable table;
  MatchEntry first = entry(1, 2, 3);
  MatchEntry second = entry(1, 2, 3);
  table.add(first);
  table.add(second);
  EXPECT_EQ(table.take_for({.context = 1, .source = 2, .tag = 3}), &first);
  EXPECT_FALSE(first.is_linked());
  EXPECT_EQ(table.count(), 1U);
  EXPECT_EQ(table.take_for({.context = 1, .source = 2, .tag = 3}), &second);
}

TEST(MatchTable, HidesTheLibrarysOwnTagsFromWildcards) {
  PostedTable posted;
  MatchEntry any = entry(0, 1, MPI_ANY_TAG);
  posted.add(any);
  EXPECT_EQ(posted.take_for({.context = 0, .source = 1, .tag = -3}), nullptr);
  EXPECT_EQ(posted.take_for({.context = 0, .source = 1, .tag = 0}), &any);
  UnexpectedTable unexpected;
  MatchEntry own = entry(0, 1, -3);
  unexpected.add(own);
  EXPECT_EQ(unexpected.find_for({.context = 0, .source = 1, .tag = MPI_ANY_TAG}), nullptr);
  EXPECT_EQ(unexpected.find_for({.context = 0, .source = 1, .tag = -3}), &own);
  unexpected.remove(own);
}

TEST(MatchTable, ReplacesAMessageInItsPlace) {
  UnexpectedTable table;
  MatchEntry before = entry(0, 0, 7);
  MatchEntry old = entry(0, 0, 7);
  MatchEntry after = entry(0, 0, 7);
  MatchEntry twin = entry(0, 0, 7);
  for (MatchEntry* each : {&before, &old, &after})
    table.add(*each);
  UnexpectedTable::replace(old, twin);
  EXPECT_FALSE(old.is_linked());
  for (MatchEntry* each : {&before, &twin, &after}) {
    EXPECT_EQ(table.oldest(), each);
    EXPECT_EQ(table.take_for({.context = 0, .source = 0, .tag = 7}), each);
  }
  EXPECT_EQ(table.oldest(), nullptr);
}

/// A table with a linear search from the oldest entry on.
class SlowTable {
 public:
  void add(MatchEntry& added) { entries_.push_back(&added); }

  void remove(MatchEntry& removed) { entries_.remove(&removed); }

  template <class Accepts>
  [[nodiscard]] MatchEntry* find(Accepts&& accepts) const {
    for (MatchEntry* candidate : entries_) {
      if (accepts(candidate->envelope)) return candidate;
    }
    return nullptr;
  }

  [[nodiscard]] MatchEntry* random(Prng& dice) const {
    auto at = entries_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(dice.below(entries_.size())));
    return *at;
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  std::list<MatchEntry*> entries_;
};

Envelope random_envelope(Prng& dice, bool with_wildcards) {
  Envelope envelope{
      .context = static_cast<std::uint32_t>(dice.below(3)),
      .source = static_cast<std::int32_t>(dice.below(4)),
      .tag = static_cast<std::int32_t>(dice.below(5)) - (dice.below(9) == 0 ? 10 : 0)};
  if (with_wildcards && dice.below(3) == 0) envelope.source = MPI_ANY_SOURCE;
  if (with_wildcards && dice.below(3) == 0) envelope.tag = MPI_ANY_TAG;
  return envelope;
}

/// Adds, removes and takes at random, in `table` and in a slow one; the results must agree. The
/// keys have wildcards where the entries have none.
template <class Table>
void compare_with_linear_search(Table& table, bool holds_receives) {
  Prng dice(seed());
  SlowTable slow;
  std::deque<MatchEntry> entries;
  for (int step = 0; step < 20000; ++step) {
    const auto what = dice.below(10);
    if (what < 4) {
      entries.emplace_back().envelope = random_envelope(dice, holds_receives);
      table.add(entries.back());
      slow.add(entries.back());
    } else if (what < 6 && !slow.empty()) {
      MatchEntry& removed = *slow.random(dice);
      table.remove(removed);
      slow.remove(removed);
    } else {
      const Envelope asked = random_envelope(dice, !holds_receives);
      MatchEntry* taken = table.take_for(asked);
      ASSERT_EQ(taken, slow.find([&](const Envelope& held) {
        return holds_receives ? asked.satisfies(held) : held.satisfies(asked);
      })) << "step "
          << step;
      if (taken != nullptr) slow.remove(*taken);
    }
    if (step % 64 == 0) table.check_invariants();
  }
}

TEST(MatchTable, TheCheckFindsAnEntryWhoseEnvelopeHasChanged) {
  PostedTable table;
  std::deque<MatchEntry> entries;
  for (int tag = 0; tag < 16; ++tag) {
    entries.emplace_back().envelope = {.context = 1, .source = 2, .tag = tag};
    table.add(entries.back());
  }
  table.check_invariants();
  entries[3].envelope.tag = MPI_ANY_TAG;
  EXPECT_DEATH(table.check_invariants(), "check failed");
}

TEST(MatchTable, TheCheckFindsAMessageThatOnlyOneOfTheListsHolds) {
  UnexpectedTable table;
  std::deque<MatchEntry> entries;
  for (int tag = 0; tag < 3; ++tag) {
    entries.emplace_back().envelope = {.context = 1, .source = 2, .tag = tag};
    table.add(entries.back());
  }
  table.check_invariants();
  IntrusiveList<MatchEntry, InArrivals>::remove(entries[1]);
  EXPECT_DEATH(table.check_invariants(), "2 arrivals, 3 in buckets");
}

TEST(MatchTable, FindsReceivesAsALinearSearchDoes) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed()));
  PostedTable table;
  compare_with_linear_search(table, true);
}

TEST(MatchTable, FindsMessagesAsALinearSearchDoes) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed()));
  UnexpectedTable table;
  compare_with_linear_search(table, false);
}

}  // namespace
}  // namespace sorrel::mpi
