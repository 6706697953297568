#include "mpi/comm/group.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "mpi/comm/group_algebra.hpp"

namespace sorrel::mpi {
namespace {

using Ranks = std::vector<std::int32_t>;

Ranks members(const GroupPointer& group) {
  Ranks ranks;
  for (std::int32_t i = 0; i < group->size(); ++i)
    ranks.push_back(group->world_rank(i));
  return ranks;
}

GroupPointer incl(const GroupPointer& group, const std::vector<int>& ranks) {
  GroupPointer result;
  ErrorDetail detail;
  EXPECT_EQ(group_incl(*group, ranks, &result, detail), MPI_SUCCESS) << detail.text();
  return result;
}

GroupPointer excl(const GroupPointer& group, const std::vector<int>& ranks) {
  GroupPointer result;
  ErrorDetail detail;
  EXPECT_EQ(group_excl(*group, ranks, &result, detail), MPI_SUCCESS) << detail.text();
  return result;
}

std::vector<int> expanded(const GroupPointer& group, const std::vector<RankRange>& ranges) {
  std::vector<int> ranks;
  ErrorDetail detail;
  EXPECT_EQ(expand_ranges(*group, ranges, &ranks, detail), MPI_SUCCESS) << detail.text();
  return ranks;
}

int expansion_error(const GroupPointer& group, const std::vector<RankRange>& ranges) {
  std::vector<int> ranks;
  ErrorDetail detail;
  return expand_ranges(*group, ranges, &ranks, detail);
}

bool holds(const Ranks& ranks, std::int32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

TEST(Group, FindsRanksInAnyOrder) {
  for (const auto& ranks : {Ranks{2, 5, 9}, Ranks{9, 2, 5}}) {
    const auto group = Group::of(ranks);
    for (std::int32_t i = 0; i < 3; ++i)
      EXPECT_EQ(group->rank_of(ranks[static_cast<std::size_t>(i)]), i);
    EXPECT_EQ(group->rank_of(3), MPI_UNDEFINED);
    EXPECT_EQ(group->rank_of(100), MPI_UNDEFINED);
  }
  EXPECT_EQ(Group::world(4)->rank_of(4), MPI_UNDEFINED);
  EXPECT_EQ(Group::world(4)->rank_of(3), 3);
}

TEST(GroupAlgebra, SetOperationsKeepTheOrderOfTheFirstGroup) {
  const auto a = Group::of({7, 1, 4});
  const auto b = Group::of({4, 9, 7, 0});
  EXPECT_EQ(members(group_union(a, b)), (Ranks{7, 1, 4, 9, 0}));
  EXPECT_EQ(members(group_intersection(a, b)), (Ranks{7, 4}));
  EXPECT_EQ(members(group_difference(a, b)), (Ranks{1}));
  EXPECT_EQ(members(group_intersection(b, a)), (Ranks{4, 7}));
}

TEST(GroupAlgebra, EmptyGroupIsNeutral) {
  const auto a = Group::of({3, 1});
  const auto empty = Group::of({});
  EXPECT_EQ(members(group_union(a, empty)), (Ranks{3, 1}));
  EXPECT_EQ(members(group_union(empty, a)), (Ranks{3, 1}));
  EXPECT_EQ(group_intersection(a, empty)->size(), 0);
  EXPECT_EQ(members(group_difference(a, empty)), (Ranks{3, 1}));
  EXPECT_EQ(group_difference(a, a)->size(), 0);
}

TEST(GroupAlgebra, AgreesWithSearchingListsOnRandomGroups) {
  const char* given = std::getenv("SORREL_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 20261120U;
  std::cout << "SORREL_SEED=" << seed << "\n";
  std::mt19937 random(seed);
  Ranks all(40);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::int32_t>(i);
  for (int round = 0; round < 200; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    const Ranks a(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(random() % 41));
    std::shuffle(all.begin(), all.end(), random);
    const Ranks b(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(random() % 41));
    Ranks both = a;
    Ranks common;
    Ranks only_a;
    for (const auto rank : a)
      (holds(b, rank) ? common : only_a).push_back(rank);
    for (const auto rank : b)
      if (!holds(a, rank)) both.push_back(rank);
    EXPECT_EQ(members(group_union(Group::of(a), Group::of(b))), both);
    EXPECT_EQ(members(group_intersection(Group::of(a), Group::of(b))), common);
    EXPECT_EQ(members(group_difference(Group::of(a), Group::of(b))), only_a);
  }
}

TEST(GroupAlgebra, InclTakesTheOrderOfTheListAndExclThatOfTheGroup) {
  const auto group = Group::of({10, 11, 12, 13});
  EXPECT_EQ(members(incl(group, {3, 0, 2})), (Ranks{13, 10, 12}));
  EXPECT_EQ(members(excl(group, {3, 0})), (Ranks{11, 12}));
  EXPECT_EQ(incl(group, {})->size(), 0);
  EXPECT_EQ(members(excl(group, {})), (Ranks{10, 11, 12, 13}));
  EXPECT_EQ(excl(group, {1, 0, 3, 2})->size(), 0);
}

TEST(GroupAlgebra, RefusesRanksThatAreNotThereOrComeTwice) {
  const auto group = Group::world(4);
  GroupPointer result;
  ErrorDetail detail;
  EXPECT_EQ(group_incl(*group, std::vector{0, 7}, &result, detail), MPI_ERR_RANK);
  EXPECT_STREQ(detail.text(), "rank 7 is not in the group; ranks must be in 0..3");
  EXPECT_EQ(group_excl(*group, std::vector{-1}, &result, detail), MPI_ERR_RANK);
  EXPECT_EQ(group_incl(*group, std::vector{1, 2, 1}, &result, detail), MPI_ERR_RANK);
  EXPECT_STREQ(detail.text(), "ranks contains rank 1 more than once");
  EXPECT_EQ(result, nullptr);
}

TEST(GroupAlgebra, RangesRunForwardsAndBackwards) {
  const auto group = Group::world(10);
  EXPECT_EQ(expanded(group, {{0, 9, 3}, {8, 4, -2}}), (std::vector{0, 3, 6, 9, 8, 6, 4}));
  EXPECT_EQ(expanded(group, {{5, 5, -7}, {1, 2, 100}}), (std::vector{5, 1}));
  EXPECT_EQ(expanded(group, {{7, 11, 5}}), (std::vector{7})) << "11 itself is not reached";
  EXPECT_EQ(expanded(group, {}), std::vector<int>{});
}

TEST(GroupAlgebra, RefusesRangesThatLeadNowhereOrOutside) {
  const auto group = Group::world(10);
  const int far = std::numeric_limits<int>::max();
  EXPECT_EQ(expansion_error(group, {{0, 3, 0}}), MPI_ERR_ARG);
  EXPECT_EQ(expansion_error(group, {{0, 3, -1}}), MPI_ERR_ARG);
  EXPECT_EQ(expansion_error(group, {{3, 0, 1}}), MPI_ERR_ARG);
  EXPECT_EQ(expansion_error(group, {{0, 10, 1}}), MPI_ERR_RANK);
  EXPECT_EQ(expansion_error(group, {{-far, far, 1}}), MPI_ERR_RANK);
  EXPECT_EQ(expansion_error(group, {{0, 9, 1}, {0, 9, 1}}), MPI_ERR_RANK);
}

TEST(GroupAlgebra, ComparesMembersAndOrder) {
  const auto a = Group::of({0, 1, 2});
  EXPECT_EQ(group_compare(*a, *Group::world(3)), MPI_IDENT);
  EXPECT_EQ(group_compare(*a, *Group::of({2, 1, 0})), MPI_SIMILAR);
  EXPECT_EQ(group_compare(*a, *Group::of({0, 1, 3})), MPI_UNEQUAL);
  EXPECT_EQ(group_compare(*a, *Group::of({0, 1})), MPI_UNEQUAL);
  EXPECT_EQ(group_compare(*Group::of({}), *Group::of({})), MPI_IDENT);
}

TEST(GroupAlgebra, TranslatesRanksAndLeavesProcNull) {
  const auto from = Group::of({5, 6, 7});
  const auto to = Group::of({7, 5});
  const std::vector ranks{0, 1, 2, MPI_PROC_NULL};
  std::vector<int> results(ranks.size());
  ErrorDetail detail;
  EXPECT_EQ(translate_ranks(*from, ranks, *to, results.data(), detail), MPI_SUCCESS);
  EXPECT_EQ(results, (std::vector{1, MPI_UNDEFINED, 0, MPI_PROC_NULL}));
  EXPECT_EQ(translate_ranks(*from, std::vector{3}, *to, results.data(), detail), MPI_ERR_RANK);
  EXPECT_STREQ(detail.text(), "rank 3 is not in the group; ranks must be in 0..2");
}

}  // namespace
}  // namespace sorrel::mpi
