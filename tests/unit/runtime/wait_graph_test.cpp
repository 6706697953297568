#include "mpi/job/wait_graph.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace sorrel::mpi {
namespace {

using Needs = WaitGraph::Needs;
using Stuck = WaitGraph::Stuck;

TEST(WaitGraphTest, ACycleIsStuckBesideARankThatRuns) {
  WaitGraph graph(0, 3);
  graph.add_wait(0, Needs::all);
  graph.need(1);
  graph.add_wait(1, Needs::all);
  graph.need(0);
  EXPECT_EQ(graph.stuck(), (std::vector<Stuck>{{0, 1}, {1, 0}}));
}

TEST(WaitGraphTest, AChainToARankThatRunsIsNotStuck) {
  WaitGraph graph(0, 4);
  for (int rank = 0; rank < 3; ++rank) {
    graph.add_wait(rank, Needs::all);
    graph.need(rank + 1);
  }
  EXPECT_TRUE(graph.stuck().empty());
}

TEST(WaitGraphTest, AChainToAnEndedRankIsStuck) {
  WaitGraph graph(0, 3);
  for (int rank = 0; rank < 2; ++rank) {
    graph.add_wait(rank, Needs::all);
    graph.need(rank + 1);
  }
  graph.add_ended(2);
  EXPECT_EQ(graph.stuck(), (std::vector<Stuck>{{0, 1}, {1, 2}}));
}

TEST(WaitGraphTest, ARankOfAnotherProcessMayAct) {
  WaitGraph graph(4, 6);
  graph.add_wait(4, Needs::all);
  graph.need(5);
  graph.add_wait(5, Needs::all);
  graph.need(3);
  EXPECT_TRUE(graph.stuck().empty());
}

TEST(WaitGraphTest, OfAllNeedsOneThatIsNeverMetSuffices) {
  WaitGraph graph(0, 3);
  graph.add_wait(0, Needs::all);
  graph.need_anything();
  graph.need(2);
  graph.need(1);
  graph.add_wait(1, Needs::all);
  graph.need(0);
  EXPECT_EQ(graph.stuck(), (std::vector<Stuck>{{0, 1}, {1, 0}}));
}

TEST(WaitGraphTest, OfAnyNeedOneThatMayBeMetSuffices) {
  for (const bool is_free : {false, true}) {
    WaitGraph graph(0, 2);
    graph.add_wait(0, Needs::any);
    graph.need(1);
    if (is_free) graph.need_anything();
    graph.add_wait(1, Needs::all);
    graph.need(0);
    EXPECT_EQ(graph.stuck().size(), is_free ? 0U : 2U);
  }
}

TEST(WaitGraphTest, AWildcardIsStuckIfAllMembersAre) {
  for (const bool does_last_run : {false, true}) {
    WaitGraph graph(0, 3);
    const std::size_t all = graph.add_group({0, 1, 2});
    for (int rank = 0; rank < (does_last_run ? 2 : 3); ++rank) {
      graph.add_wait(rank, Needs::all);
      graph.need_one_of(all);
    }
    EXPECT_EQ(graph.stuck().size(), does_last_run ? 0U : 3U);
  }
}

TEST(WaitGraphTest, AGroupWithARankOfAnotherProcessMayAct) {
  WaitGraph graph(0, 1);
  const std::size_t group = graph.add_group({0, 1});
  graph.add_wait(0, Needs::all);
  graph.need_one_of(group);
  EXPECT_TRUE(graph.stuck().empty());
}

TEST(WaitGraphTest, ARankWithoutANeedActs) {
  WaitGraph graph(0, 2);
  graph.add_wait(0, Needs::all);
  graph.need(1);
  graph.add_wait(1, Needs::all);
  EXPECT_TRUE(graph.stuck().empty());
}

/// The definition, step by step: ranks go on as long as one can.
std::vector<std::int32_t> by_definition(const std::vector<std::vector<std::vector<int>>>& needs,
                                        const std::vector<Needs>& kinds,
                                        const std::vector<bool>& runs) {
  std::vector<bool> goes_on = runs;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t rank = 0; rank < needs.size(); ++rank) {
      if (goes_on[rank]) continue;
      std::size_t met = 0;
      for (const std::vector<int>& one_of : needs[rank]) {
        for (const int other : one_of) {
          if (!goes_on[static_cast<std::size_t>(other)]) continue;
          ++met;
          break;
        }
      }
      if (met < (kinds[rank] == Needs::any ? 1 : needs[rank].size())) continue;
      goes_on[rank] = has_changed = true;
    }
  }
  std::vector<std::int32_t> stuck;
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    if (!goes_on[rank]) stuck.push_back(static_cast<std::int32_t>(rank));
  }
  return stuck;
}

TEST(WaitGraphTest, RandomGraphsAgreeWithTheDefinition) {
  Prng random(7);
  std::size_t stuck_count = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto count = static_cast<int>(2 + random.below(7));
    WaitGraph graph(0, count);
    std::vector<std::vector<std::vector<int>>> needs(static_cast<std::size_t>(count));
    std::vector<Needs> kinds(needs.size(), Needs::all);
    std::vector<bool> runs(needs.size());
    for (int rank = 0; rank < count; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      runs[i] = random.below(5) == 0;
      if (runs[i]) continue;
      kinds[i] = random.below(3) == 0 ? Needs::any : Needs::all;
      graph.add_wait(rank, kinds[i]);
      for (std::uint64_t k = 1 + random.below(3); k > 0; --k) {
        std::vector<int> one_of;
        for (std::uint64_t m = 1 + random.below(3); m > 0; --m)
          one_of.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(count))));
        if (one_of.size() == 1) {
          graph.need(one_of.front());
        } else {
          graph.need_one_of(graph.add_group({one_of.begin(), one_of.end()}));
        }
        needs[i].push_back(one_of);
      }
    }
    std::vector<std::int32_t> found;
    for (const Stuck& stuck : graph.stuck())
      found.push_back(stuck.rank);
    const auto expected = by_definition(needs, kinds, runs);
    ASSERT_EQ(found, expected) << "round " << round;
    stuck_count += expected.size();
  }
  EXPECT_GT(stuck_count, 1000U);
}

}  // namespace
}  // namespace sorrel::mpi
