#include "graph/dag/dag.hpp"

#include <gtest/gtest.h>
#include <set>
#include <string>

#include "base/prng.hpp"
#include "graph/dag/joins.hpp"
#include "graph/dag/order.hpp"
#include "unit/graph/random_dag.hpp"

namespace sorrel::graph {
namespace {

Dag wavefront(Index rows, Index columns) {
  Dag dag;
  const int wave = family(dag, "wave", {rows, columns});
  EXPECT_EQ(dag.add_edge({wave, wave, offset(-1, 0)}), "");
  EXPECT_EQ(dag.add_edge({wave, wave, offset(0, -1)}), "");
  return dag;
}

bool is_before(const Dag& dag, const Edge& edge, const Key& from, const Key& to) {
  return dag.predecessors(edge, to).contains(from);
}

TEST(Dag, AFamilyWithoutANameGetsOneForMessages) {
  Dag dag;
  family(dag, "wave", {3});
  EXPECT_EQ(dag.family(family(dag, "", {3})).name, "family1");
}

TEST(Dag, BothDirectionsOfAnEdgeAreTheSameEdge) {
  Prng random(seed());
  for (int round = 0; round < 300; ++round) {
    const Dag dag = random_dag(random);
    for (const Edge& edge : dag.edges()) {
      for_each_key(dag.family(edge.from).space.box(), [&](const Key& from) {
        for_each_key(dag.family(edge.to).space.box(), [&](const Key& to) {
          EXPECT_EQ(dag.successors(edge, from).contains(to), is_before(dag, edge, from, to))
              << dag.print();
        });
      });
    }
  }
}

TEST(Dag, RegionsCoverAFamilyOnceAndCountEveryTasksNeighbours) {
  Prng random(seed());
  for (int round = 0; round < 300; ++round) {
    const Dag dag = random_dag(random);
    for (int f = 0; f < dag.family_count(); ++f) {
      const std::vector<Region> regions = dag.regions(f);
      for_each_key(dag.family(f).space.box(), [&](const Key& key) {
        int holders = 0;
        for (const Region& region : regions) {
          if (!region.keys.contains(key)) continue;
          ++holders;
          Region counted;
          for (const Edge& edge : dag.edges()) {
            const Index before = edge.to == f ? dag.predecessors(edge, key).count() : 0;
            const Index after = edge.from == f ? dag.successors(edge, key).count() : 0;
            (edge.crosses_step ? counted.before_crossing : counted.before_in_step) += before;
            (edge.crosses_step ? counted.after_crossing : counted.after_in_step) += after;
          }
          EXPECT_EQ(region.before_in_step, counted.before_in_step) << dag.print();
          EXPECT_EQ(region.before_crossing, counted.before_crossing) << dag.print();
          EXPECT_EQ(region.after_in_step, counted.after_in_step) << dag.print();
          EXPECT_EQ(region.after_crossing, counted.after_crossing) << dag.print();
        }
        EXPECT_EQ(holders, 1) << dag.name_of(f, key) << "\n" << dag.print();
      });
    }
  }
}

/// The tasks of `family` before `key` of another family, directly or through a join.
std::set<Key> all_before(const Dag& dag, int family, int to, const Key& key) {
  std::set<Key> before;
  for (const Edge& edge : dag.edges_into(to)) {
    for_each_key(dag.predecessors(edge, key), [&](const Key& from) {
      if (edge.from == family) before.insert(from);
      if (dag.family(edge.from).is_join) before.merge(all_before(dag, family, edge.from, from));
    });
  }
  return before;
}

TEST(Dag, JoinsKeepWhatPrecedesWhat) {
  Prng random(seed());
  int joins = 0;
  for (int round = 0; round < 200; ++round) {
    Dag dag;
    const auto extent = [&] { return static_cast<Index>(random.below(2) == 0 ? 3 : 30); };
    const int from = family(dag, "from", {extent(), extent()});
    const int to = family(dag, "to", {extent(), extent()});
    Relation relation;
    std::set<int> used;
    for (Axis& axis : relation.axes)
      axis = random_axis(random, 2, used);
    ASSERT_EQ(dag.add_edge({from, to, relation}), "");
    const Dag joined = with_joins(dag);
    joins += joined.family_count() - 2;
    for_each_key(dag.family(to).space.box(), [&](const Key& key) {
      EXPECT_EQ(all_before(joined, from, to, key), all_before(dag, from, to, key)) << dag.print();
    });
  }
  EXPECT_GT(joins, 10);
}

TEST(Dag, AnEdgeBetweenAllTasksCostsAsMuchAsOneTaskBetween) {
  Dag dag;
  const int from = family(dag, "from", {20'000});
  const int to = family(dag, "to", {20'000});
  ASSERT_EQ(dag.add_edge({from, to, everything}), "");
  ASSERT_EQ(dag.add_edge({from, from, everything, true}), "");
  const Dag joined = with_joins(dag);
  for (int f = 0; f < joined.family_count(); ++f)
    for (const Region& region : joined.regions(f))
      EXPECT_TRUE(joined.family(f).is_join || region.before_in_step + region.before_crossing <= 2);
}

TEST(Dag, PrintKnowsFourDimensionsAndDotQuotesNames) {
  Dag dag;
  const int four = family(dag, "a \"b\" \\ c", {2, 3, 4, 5});
  ASSERT_EQ(dag.add_edge({four, four, offset(0, 0, 0, -1)}), "");
  EXPECT_EQ(dag.print(),
            "task     a \"b\" \\ c, 2 x 3 x 4 x 5\n"
            "         after a \"b\" \\ c(i, j, k, l - 1)\n");
  EXPECT_NE(
      dag.dot(false).find(R"--("a \"b\" \\ c" -> "a \"b\" \\ c" [label="(i, j, k, l - 1)"];)--"),
      std::string::npos)
      << dag.dot(false);
}

// Goal: the search for cycles takes time in proportion to the families. Method: a chain as long as
// a graph may have, which took a minute with all pairs.
TEST(Dag, ALongChainOfFamiliesIsSoonKnownToHaveAnOrder) {
  constexpr int count = 4096;
  Dag dag;
  for (int f = 0; f < count; ++f) {
    family(dag, "task", {1});
    if (f > 0) {
      ASSERT_EQ(dag.add_edge({f - 1, f, everything}), "");
    }
  }
  EXPECT_EQ(find_order_error(dag), "");
  ASSERT_EQ(dag.add_edge({count - 1, 0, everything}), "");
  EXPECT_NE(find_order_error(dag), "");
}

TEST(Dag, TheNumberOfRegionsDoesNotDependOnTheNumberOfTasks) {
  EXPECT_EQ(wavefront(10, 10).regions(0).size(), wavefront(10'000, 20'000).regions(0).size());
}

TEST(Dag, AnOrderIsFoundExactlyWhenTheTasksHaveOne) {
  Prng random(seed());
  int with_cycle = 0;
  for (int round = 0; round < 2000; ++round) {
    const Dag dag = random_dag(random);
    const std::string slow = find_cycle_of_tasks(dag);
    EXPECT_EQ(find_order_error(dag), slow) << dag.print();
    with_cycle += slow.empty() ? 0 : 1;
  }
  EXPECT_GT(with_cycle, 100);
  EXPECT_LT(with_cycle, 1900);
}

TEST(Dag, AWavefrontOfABillionTasksIsValidatedByItsOffsets) {
  EXPECT_EQ(find_order_error(wavefront(40'000, 40'000)), "");
}

TEST(Dag, ACycleIsReportedByItsTasks) {
  Dag dag;
  const int left = family(dag, "left", {2});
  const int right = family(dag, "right", {2});
  ASSERT_EQ(dag.add_edge({left, right, same_tile}), "");
  ASSERT_EQ(dag.add_edge({right, left, at(1)}), "");
  EXPECT_EQ(find_order_error(dag),
            "graph: a task comes before itself: right(1) -> left(1) -> right(1)");
}

TEST(Dag, ACycleThroughTheStepBeforeIsNone) {
  Dag dag;
  const int tile = family(dag, "tile", {4, 4});
  for (const Relation& relation : along_axes(2, 1))
    ASSERT_EQ(dag.add_edge({tile, tile, relation, true}), "");
  EXPECT_EQ(find_order_error(dag), "");
}

TEST(Dag, EveryTaskComesAfterItselfWhereStepsOverlap) {
  Dag dag;
  const int one = family(dag, "one", {3});
  const int two = family(dag, "two", {3});
  ASSERT_EQ(dag.add_edge({one, two, same_tile}), "");
  dag.add_implied_edges();
  EXPECT_EQ(dag.edges().size(), 1U) << "steps do not overlap";
  ASSERT_EQ(dag.add_edge({two, one, same_tile, true}), "");
  ASSERT_EQ(dag.add_edge({one, one, same_tile, true}), "");
  dag.add_implied_edges();
  ASSERT_EQ(dag.edges().size(), 4U);
  EXPECT_EQ(dag.edges().back().from, two);
  EXPECT_TRUE(dag.edges().back().is_implied);
}

TEST(Dag, WrongEdgesAreRefusedWithTheNamesOfTheirFamilies) {
  Dag dag;
  const int flat = family(dag, "flat", {4, 4});
  const int line = family(dag, "line", {4});
  EXPECT_EQ(dag.add_edge({flat, line, same_tile}),
            "graph: line after flat: the families have 2 and 1 dimensions; say at(...)");
  EXPECT_EQ(dag.add_edge({flat, line, at(dim(0))}),
            "graph: line after flat: at() has 1 coordinates, flat has 2");
  EXPECT_EQ(dag.add_edge({flat, line, at(dim(0), dim(1))}),
            "graph: line after flat: dim(1) is not one of the 1 dimensions of line");
  EXPECT_EQ(dag.add_edge({flat, line, at(dim(0), dim(0))}),
            "graph: line after flat: dim(0) is used twice; once is possible");
  EXPECT_TRUE(dag.edges().empty());
}

TEST(Dag, PrintTellsFamiliesAndWhatTheyComeAfter) {
  Dag dag;
  const int panel = family(dag, "panel", {4});
  const int update = family(dag, "update", {3, 4});
  dag.family(update).fills_gaps = true;
  dag.family(update).filling = dag.family(update).space.box();
  ASSERT_EQ(dag.add_edge({panel, update, at(dim(1) - 1)}), "");
  ASSERT_EQ(dag.add_edge({update, panel, at(every, dim(0)), true}), "");
  dag.add_implied_edges();
  EXPECT_EQ(dag.print(),
            "task     panel, 4\n"
            "         after update(every, i) of the step before\n"
            "         after panel(i) of the step before, as every task\n"
            "task     update, 3 x 4, fills gaps\n"
            "         after panel(j - 1)\n"
            "         after update(i, j) of the step before, as every task\n");
}

TEST(Dag, DotHasANodeForEachFamilyOrForEachTask) {
  const Dag dag = wavefront(2, 2);
  EXPECT_EQ(dag.dot(false),
            "digraph graph_of_tasks {\n  rankdir=TB;\n"
            "  \"wave\" [shape=box,label=\"wave\\n2 x 2\"];\n"
            "  \"wave\" -> \"wave\" [label=\"(i - 1, j)\"];\n"
            "  \"wave\" -> \"wave\" [label=\"(i, j - 1)\"];\n"
            "}\n");
  EXPECT_NE(dag.dot(true).find("\"wave(0, 1)\" -> \"wave(1, 1)\";"), std::string::npos);
}

}  // namespace
}  // namespace sorrel::graph
