#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>

#include "graph/dag/order.hpp"
#include "graph/run/compiled.hpp"
#include "unit/graph/random_dag.hpp"

namespace sorrel::graph {
namespace {

TEST(Graph, AWavefrontComputesWhatALoopDoes) {
  constexpr Index rows = 200;
  constexpr Index columns = 300;
  constexpr Index steps = 5;
  std::vector<std::uint64_t> paths((rows + 1) * (columns + 1));
  const auto at = [&](Index i, Index j) -> std::uint64_t& {
    return paths[static_cast<std::size_t>((i + 1) * (columns + 1) + j + 1)];
  };
  Graph g;
  auto wave = g.family("wave", {rows, columns});
  wave.body([&](const Task& task) {
    const auto [i, j, k, l] = task.key;
    at(i, j) = at(i - 1, j) * 3 + at(i, j - 1) * 5 + static_cast<std::uint64_t>(i + j + task.step);
  });
  wave.after(wave, offset(-1, 0)).after(wave, offset(0, -1));
  const Report report = g.run({.steps = steps});
  EXPECT_EQ(report.tasks, rows * columns * steps);

  std::vector<std::uint64_t> by_graph = paths;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      at(i, j) =
          at(i - 1, j) * 3 + at(i, j - 1) * 5 + static_cast<std::uint64_t>(i + j + steps - 1);
  EXPECT_EQ(by_graph, paths);
}

TEST(Graph, TheCheckFindsADependencyThatIsLeftOver) {
  Dag dag;
  const int row = family(dag, "row", {3});
  ASSERT_EQ(dag.add_edge({row, row, offset(-1)}), "");
  Compiled compiled(dag, {Body{}});
  compiled.check_invariants();
  EXPECT_FALSE(compiled.family(0).counters[1].arrive(2));
  EXPECT_DEATH(compiled.check_invariants(), "family 0, counter 1");
}

/// Cells with their history: a task checks that its neighbours have done the expected steps.
TEST(Graph, StepsOverlapOnlyAsFarAsTheirEdgesAllow) {
  constexpr Index count = 40;
  constexpr Index steps = 300;
  std::vector<std::atomic<Index>> done(count);
  std::atomic<int> wrong{0};
  Graph g;
  auto cell = g.family("cell", {count});
  cell.body([&](const Task& task) {
    const Index i = task.key[0];
    for (Index j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= count) continue;
      const Index seen = done[static_cast<std::size_t>(j)].load(std::memory_order_relaxed);
      if (seen < task.step || seen > task.step + 1 || (j == i && seen != task.step)) ++wrong;
    }
    done[static_cast<std::size_t>(i)].store(task.step + 1, std::memory_order_relaxed);
  });
  cell.after(cell, along_axes(1, 1), previous_step);
  EXPECT_EQ(g.run({.steps = steps}).steps, steps);
  EXPECT_EQ(wrong, 0);
  for (const auto& d : done)
    EXPECT_EQ(d, steps);
}

TEST(Graph, WithoutAnEdgeToTheStepBeforeOneStepFollowsTheOther) {
  constexpr Index count = 100;
  std::atomic<Index> done{0};
  std::atomic<int> wrong{0};
  Graph g;
  g.family("alone", {count}).body([&](const Task& task) {
    if (done.load() / count != task.step) ++wrong;
    ++done;
  });
  g.run({.steps = 50});
  EXPECT_EQ(done, 50 * count);
  EXPECT_EQ(wrong, 0);
}

/// `first` of the next step need not wait for `last`, but may be one step ahead of it only.
TEST(Graph, ATaskIsAtMostOneStepAheadOfAnyOther) {
  constexpr Index steps = 200;
  std::atomic<Index> slow_done{0};
  std::atomic<int> wrong{0};
  Graph g;
  auto fast = g.family("fast", {8}).body([&](const Task& task) {
    if (task.step > slow_done.load() / 8 + 1) ++wrong;
  });
  auto slow = g.family("slow", {8}).body([&] { ++slow_done; });
  slow.after(fast, previous_step);
  g.run({.steps = steps});
  EXPECT_EQ(slow_done, 8 * steps);
  EXPECT_EQ(wrong, 0);
}

/// Counts the steps of every task; each task checks all of its predecessors.
class Watched {
 public:
  explicit Watched(Dag dag) : dag_(std::move(dag)) {
    std::vector<Family> families;
    for (int f = 0; f < dag_.family_count(); ++f) {
      const FamilyInfo& info = dag_.family(f);
      done_.emplace_back(static_cast<std::size_t>(info.space.count()));
      families.push_back(graph_.family(info.name, info.space));
      families.back().body([this, f](const Task& task) { check(f, task); });
      if (f == 1) families.back().priority(Priority::fill);
    }
    for (const Edge& edge : dag_.edges()) {
      Relation relation = edge.relation;
      relation.axis_count = dag_.family(edge.from).space.dimension_count();
      families[static_cast<std::size_t>(edge.to)].after(
          families[static_cast<std::size_t>(edge.from)], relation,
          edge.crosses_step ? When::previous_step : When::this_step);
    }
  }

  /// Number of tasks that ran too early, or not at all.
  int run(Index steps) {
    for (auto& family : done_)
      for (auto& done : family)
        done = 0;
    graph_.run({.steps = steps});
    for (auto& family : done_)
      for (auto& done : family)
        wrong_ += done == steps ? 0 : 1;
    return wrong_;
  }

 private:
  Index done(int family, const Key& key) const {
    const auto index = static_cast<std::size_t>(dag_.family(family).space.index_of(key));
    // Relaxed: the graph must order it.
    return done_[static_cast<std::size_t>(family)][index].load(std::memory_order_relaxed);
  }

  void check(int family, const Task& task) {
    for (const Edge& edge : dag_.edges()) {
      if (edge.to != family) continue;
      for_each_key(dag_.predecessors(edge, task.key), [&](const Key& key) {
        const Index missing = edge.crosses_step ? task.step : task.step + 1;
        if (done(edge.from, key) < missing) ++wrong_;
      });
    }
    if (done(family, task.key) != task.step) ++wrong_;
    const auto index = static_cast<std::size_t>(dag_.family(family).space.index_of(task.key));
    done_[static_cast<std::size_t>(family)][index].store(task.step + 1, std::memory_order_relaxed);
  }

  Dag dag_;
  Graph graph_;
  std::vector<std::vector<std::atomic<Index>>> done_;
  std::atomic<int> wrong_{0};
};

TEST(Graph, RandomGraphsKeepAllOfTheirEdgesInEveryStep) {
  Prng random(seed());
  int runs = 0;
  while (runs < 150) {
    Dag dag = random_dag(random);
    if (!find_order_error(dag).empty()) continue;
    ++runs;
    Watched watched(dag);
    ASSERT_EQ(watched.run(7), 0) << dag.print();
    ASSERT_EQ(watched.run(2), 0) << "again: " << dag.print();
  }
}

TEST(Graph, EveryKindOfEdgeIsKept) {
  std::atomic<int> wrong{0};
  std::atomic<int> clock{0};
  std::vector<std::atomic<int>> row_done(6);
  Graph g;
  auto cell = g.family("cell", {6, 7}).body([&](Index i, Index) {
    ++row_done[static_cast<std::size_t>(i)];
  });
  auto row = g.family("row", {6}).body([&](Index i) {
    if (row_done[static_cast<std::size_t>(i)] != 7) ++wrong;
    ++clock;
  });
  auto all = g.family("all", {1}).body([&] {
    if (clock != 6) ++wrong;
    ++clock;
  });
  auto again = g.family("again", {6, 7, 2}).body([&](Index, Index, Index) {
    if (clock < 7) ++wrong;
  });
  auto first = g.family("first", {1}).body([&] {
    if (row_done[2] != 7) ++wrong;
  });
  row.after(cell, at(dim(0), every));
  all.after(row, everything);
  again.after(all, at(0)).after(cell, at(dim(0), dim(1)));
  first.after(cell, at(2, every));
  g.run();
  EXPECT_EQ(clock, 7);
  EXPECT_EQ(wrong, 0);
}

TEST(Graph, GapFillersRunToo) {
  std::atomic<int> count{0};
  Graph g;
  auto fill = g.family("fill", {50}).body([&] { ++count; }).priority(Priority::fill);
  auto normal = g.family("normal", {50}).body([&] { ++count; });
  auto both = g.family("both", {50}).body([&] { ++count; }).priority(Priority::fill);
  both.after(fill).after(normal);
  g.run({.steps = 20});
  EXPECT_EQ(count, 150 * 20);
}

TEST(Graph, AnExceptionComesOutOfRunAndNamesItsTask) {
  std::atomic<int> count{0};
  bool does_throw = true;
  Graph g;
  auto wave = g.family("wave", {20, 20}).body([&](const Task& task) {
    ++count;
    if (does_throw && task.step == 2 && task.key[0] == 3 && task.key[1] == 4)
      throw std::runtime_error("enough");
  });
  wave.after(wave, offset(-1, 0)).after(wave, offset(0, -1));
  EXPECT_THROW(
      {
        try {
          g.run({.steps = 10});
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "enough");
          throw;
        }
      },
      std::runtime_error);
  EXPECT_EQ(g.failed_task(), "wave(3, 4), step 2");
  EXPECT_LT(count, 3 * 400);

  does_throw = false;
  count = 0;
  g.run({.steps = 10});
  EXPECT_EQ(count, 10 * 400) << "the graph can be run again";
  EXPECT_EQ(g.failed_task(), "");
}

TEST(Graph, MistakesAreGraphErrorsThatNameFamilies) {
  const auto message_of = [](auto&& does) -> std::string {
    try {
      does();
    } catch (const GraphError& error) {
      return error.what();
    }
    return "";
  };
  Graph g;
  auto one = g.family("one", {4}).body([] {});
  auto two = g.family("two", {4}).body([] {});
  auto bare = g.family("bare", {4, 4});
  EXPECT_EQ(message_of([&] { bare.after(one); }),
            "graph: bare after one: the families have 1 and 2 dimensions; say at(...)");
  EXPECT_EQ(message_of([&] { g.run(); }), "graph: bare has no body; say body(function)");
  bare.body([] {});
  one.after(two);
  two.after(one);
  EXPECT_EQ(message_of([&] { g.run(); }).substr(0, 34), "graph: a task comes before itself:");
  EXPECT_EQ(message_of([&] { g.run({.steps = -1}); }), "graph: a negative number of steps");
}

TEST(Graph, AFamilyWithoutTasksIsNotWaitedFor) {
  std::atomic<int> count{0};
  Graph g;
  auto none = g.family("none", {0}).body([] {});
  auto some = g.family("some", {3}).body([&] { ++count; });
  some.after(none, everything);
  g.run({.steps = 2});
  EXPECT_EQ(count, 6);
  Graph empty;
  EXPECT_EQ(empty.run({.steps = 3}).tasks, 0);
}

TEST(Graph, ItCanGrowBetweenTwoRuns) {
  std::atomic<int> count{0};
  Graph g;
  auto one = g.family("one", {3}).body([&] { ++count; });
  g.run();
  auto two = g.family("two", {3}).body([&] { count += 10; });
  two.after(one);
  g.run();
  EXPECT_EQ(count, 3 + 33);
}

TEST(Graph, PrintShowsImpliedEdgesToo) {
  Graph g;
  auto cell = g.family("cell", {3}).body([] {});
  auto other = g.family("other", {3}).body([] {});
  cell.after(cell, along_axes(1, 1), previous_step);
  other.after(cell);
  EXPECT_NE(g.print().find("after other(i) of the step before, as every task"), std::string::npos);
}

}  // namespace
}  // namespace sorrel::graph
