#include "graph/dag/dag.hpp"

#include <gtest/gtest.h>
#include <string>

#include "base/prng.hpp"
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
  for (const Relation& relation : star(2, 1))
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
