// Single tasks, edges forwards, conditions, subgraphs, and runs that end early.
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sorrel/graph.hpp>

namespace sorrel::graph {
namespace {

/// Names in the order in which tasks have run.
class Log {
 public:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
  }

  [[nodiscard]] auto body(const std::string& name) {
    return [this, name] { add(name); };
  }

  [[nodiscard]] std::size_t place_of(const std::string& name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return i;
    ADD_FAILURE() << name << " has not run";
    return names_.size();
  }

  [[nodiscard]] std::size_t count(const std::string& name) const {
    std::size_t count = 0;
    for (const std::string& other : names_)
      count += other == name ? 1 : 0;
    return count;
  }

  [[nodiscard]] std::size_t size() const { return names_.size(); }

  void clear() { names_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

std::string error_of(const auto& work) {
  try {
    work();
  } catch (const GraphError& error) {
    return error.what();
  }
  return "";
}

// Goal: a graph that is changed while it runs says so and is as it was.
TEST(GraphControl, AGraphIsNotChangedWhileItRuns) {
  Graph g;
  int count = 0;
  Family one = g.task("one", [&] { ++count; });
  const auto add = [&] { g.task("two", [] {}).after(one); };
  const std::string changed = "graph: it is changed while it runs; change it between runs";
  EXPECT_EQ(error_of([&] { g.run({.steps = 3, .until = [&](Index) { return add(), true; }}); }),
            changed);
  EXPECT_EQ(count, 1);
  one.body([&] { one.after(one, previous_step); });
  EXPECT_EQ(error_of([&] { g.run(); }), changed);
  one.body([&] { one.body([] {}); });
  EXPECT_EQ(error_of([&] { g.run(); }), changed);
  one.body([&] { one.priority(Priority::fill); });
  EXPECT_EQ(error_of([&] { g.run(); }), changed);
  one.body([&] { ++count; });
  add();
  g.run();
  EXPECT_EQ(count, 2);
}

TEST(GraphControl, AFamilyHasASpace) {
  Graph g;
  EXPECT_EQ(error_of([&] { g.family("f", {Index{1} << 32, Index{1} << 32}); }),
            "graph: f has more than 2147483647 tasks");
  EXPECT_EQ(error_of([&] { g.family("f", {-2, 3}); }), "graph: f has a negative extent, -2");
  EXPECT_EQ(error_of([&] { g.family("f", {2, 2, 2, 2, 2}); }),
            "graph: f has 5 dimensions; 1 to 4 are possible");
  EXPECT_EQ(error_of([&] { g.send("f", {-1}, nullptr); }), "graph: f has a negative extent, -1");
  g.family("empty", {0, 5}).body([] {});
  EXPECT_EQ(g.run().tasks, 0);
}

TEST(GraphControl, AGraphHasOneRunAtATime) {
  Graph g;
  const std::string runs =
      "graph: run() while it runs, from its own task or condition or from another thread";
  std::string from_task, from_thread;
  Family one = g.task("one", [&] { from_task = error_of([&] { g.run(); }); });
  g.run();
  EXPECT_EQ(from_task, runs);
  one.body([&] {
    std::thread other([&] { from_thread = error_of([&] { g.run(); }); });
    other.join();
  });
  g.run();
  EXPECT_EQ(from_thread, runs);
  EXPECT_EQ(error_of([&] { g.run({.steps = 1, .until = [&](Index) { return g.run(), true; }}); }),
            runs);
}

TEST(GraphControl, SingleTasksPrecedeOthers) {
  Log log;
  Graph g;
  auto first = g.task("first", log.body("first"));
  auto left = g.task("left", log.body("left"));
  auto right = g.task("right", log.body("right"));
  auto last = g.task("last", log.body("last"));
  first.precede(left, right);
  last.after(left, right);
  for (int round = 0; round < 100; ++round) {
    log.clear();
    EXPECT_EQ(g.run().tasks, 4);
    ASSERT_EQ(log.size(), 4U);
    EXPECT_EQ(log.place_of("first"), 0U);
    EXPECT_EQ(log.place_of("last"), 3U);
  }
  EXPECT_EQ(g.print(),
            "task     first, 1\n"
            "task     left, 1\n         after first(every)\n"
            "task     right, 1\n         after first(every)\n"
            "task     last, 1\n         after left(every)\n         after right(every)\n");
}

TEST(GraphControl, ASingleTaskPrecedesAndFollowsAllTasksOfAFamily) {
  constexpr Index count = 500;
  std::atomic<Index> done{0};
  std::atomic<int> wrong{0};
  Graph g;
  bool has_begun = false;
  auto begin = g.task("begin", [&] { has_begun = true; });
  auto tile = g.family("tile", {count / 10, 10}).body([&](Index, Index) {
    if (!has_begun) ++wrong;
    ++done;
  });
  auto end = g.task("end", [&](const Task&) {
    if (done != count) ++wrong;
  });
  begin.precede(tile);
  end.after(tile);
  g.run();
  EXPECT_EQ(done, count);
  EXPECT_EQ(wrong, 0);
}

TEST(GraphControl, PrecedeIsAfterSeenFromTheOtherSide) {
  Graph one;
  auto a = one.family("a", {4, 4}).body([] {});
  auto b = one.family("b", {4, 4}).body([] {});
  b.after(a, offset(-1, 0)).after(a, along_axes(2, 1), previous_step).after(a);
  Graph other;
  auto c = other.family("a", {4, 4}).body([] {});
  auto d = other.family("b", {4, 4}).body([] {});
  c.precede(d, offset(-1, 0)).precede(d, along_axes(2, 1), previous_step).precede(d);
  EXPECT_EQ(one.print(), other.print());
}

TEST(GraphControl, AFailedSingleTaskIsNamedWithoutAKey) {
  Graph g;
  g.task("load", [] { throw std::runtime_error("no file"); });
  EXPECT_THROW(g.run(), std::runtime_error);
  EXPECT_EQ(g.failed_task(), "load, step 0");
}

TEST(GraphControl, AConditionSkipsABodyAndNotItsSuccessors) {
  constexpr Index count = 100;
  std::vector<int> ran(count);
  std::vector<int> after(count);
  Graph g;
  auto odd = g.family("odd", {count})
                 .body([&](Index i) { ++ran[static_cast<std::size_t>(i)]; })
                 .only_if([](const Task& task) { return (task.key[0] + task.step) % 2 == 1; });
  g.family("all", {count}).body([&](Index i) { ++after[static_cast<std::size_t>(i)]; }).after(odd);
  EXPECT_EQ(g.run({.steps = 3}).tasks, 3 * 2 * count);
  for (Index i = 0; i < count; ++i) {
    EXPECT_EQ(ran[static_cast<std::size_t>(i)], i % 2 == 1 ? 2 : 1);
    EXPECT_EQ(after[static_cast<std::size_t>(i)], 3);
  }
}

TEST(GraphControl, OppositeConditionsAreTheBranchesOfAnIf) {
  Log log;
  bool is_small = false;
  Graph g;
  auto test = g.task("test", [&](const Task& task) { is_small = task.step % 3 == 0; });
  auto yes = g.task("yes", log.body("yes")).only_if([&] { return is_small; });
  auto no = g.task("no", log.body("no")).only_if([&] { return !is_small; });
  g.task("end", log.body("end")).after(yes, no);
  test.precede(yes, no);
  g.run({.steps = 9});
  EXPECT_EQ(log.count("yes"), 3U);
  EXPECT_EQ(log.count("no"), 6U);
  EXPECT_EQ(log.count("end"), 9U);
}

TEST(GraphControl, AConditionMayThrow) {
  Graph g;
  auto a = g.task("a", [] {});
  a.only_if([]() -> bool { throw std::runtime_error("undecided"); });
  EXPECT_THROW(g.run(), std::runtime_error);
  EXPECT_EQ(g.failed_task(), "a, step 0");
  a.only_if([] { return true; });
  EXPECT_EQ(g.run().tasks, 1);
}

TEST(GraphControl, ARunEndsWhenItsConditionHolds) {
  constexpr Index count = 64;
  std::vector<std::atomic<Index>> done(count);
  for (const bool overlaps : {false, true}) {
    for (const Index every : {1, 4, 7, 100}) {
      for (auto& d : done)
        d = 0;
      std::vector<Index> asked;
      Graph g;
      auto cell = g.family("cell", {count}).body([&](const Task& task) {
        // Steps are counted through the whole run.
        EXPECT_EQ(done[static_cast<std::size_t>(task.key[0])]++, task.step);
      });
      if (overlaps) cell.after(cell, along_axes(1, 1), previous_step);
      const Report report = g.run({.steps = 30,
                                   .until =
                                       [&](Index steps) {
                                         asked.push_back(steps);
                                         // No task runs.
                                         for (const auto& d : done)
                                           EXPECT_EQ(d, steps);
                                         return steps >= 20;
                                       },
                                   .check_every = every});
      const Index expected = every == 100 ? 30 : (20 + every - 1) / every * every;
      EXPECT_EQ(report.steps, expected);
      EXPECT_EQ(report.tasks, expected * count);
      EXPECT_EQ(asked.size(), static_cast<std::size_t>((expected + every - 1) / every));
      EXPECT_EQ(asked.back(), expected);
      EXPECT_EQ(g.run({.steps = 0}).steps, 0);
    }
  }
}

TEST(GraphControl, TheConditionOfARunMayThrow) {
  int ran = 0;
  Graph g;
  g.task("a", [&] { ++ran; });
  EXPECT_THROW(g.run({.steps = 5, .until = [](Index) -> bool { throw std::runtime_error("x"); }}),
               std::runtime_error);
  EXPECT_EQ(ran, 1);
  g.run({.steps = 5});
  EXPECT_EQ(ran, 6);
}

TEST(GraphControl, FieldsAreThoseOfTheStepWhileTheConditionIsAsked) {
  constexpr Index n = 12;
  const Tiling tiling({n}, {.tile = {3}});
  Field<double, 1> a(tiling, "a");
  Field<double, 1> b(tiling, "b");
  Field<double, 1> c(tiling, "c");
  a.fill([](Index) { return 1.0; });
  Graph g;
  g.over(tiling, "double").reads(a).writes(b).body([](const Box<1>& cells, auto now, auto next) {
    for (Index i = cells.lo[0]; i < cells.hi[0]; ++i)
      next(i) = 2 * now(i);
  });
  g.rotate(a, b, c);
  double expected = 1;
  const auto is_right = [&](Index /*steps*/) {
    expected *= 2;
    for (Index i = 0; i < n; ++i)
      EXPECT_EQ(a(i), expected);
    return false;
  };
  g.run({.steps = 5, .until = is_right});
  g.run({.steps = 3, .until = is_right});
  EXPECT_EQ(expected, 256);
}

/// A graph whose tasks note in which order they run.
void add_diamond(Graph& g, Log& log) {
  auto top = g.family("top", {2, 2}).body([&log](Index, Index) { log.add("top"); });
  auto left = g.task("left", log.body("left"));
  auto right = g.family("right", {3}).body([&log](Index) { log.add("right"); });
  left.after(top);
  right.after(top, everything);
  g.task("bottom", log.body("bottom")).after(left, right);
}

TEST(GraphControl, ASubgraphRunsBetweenItsBeginAndItsEnd) {
  Log log;
  Graph part;
  add_diamond(part, log);
  Graph g;
  auto before = g.family("before", {5}).body([&](Index) { log.add("before"); });
  auto one = g.add("one", part).after(before);
  auto other = g.add("other", part);
  other.begin.after(one.end);
  auto after = g.family("after", {2, 2}).body([&](Index, Index) { log.add("after"); });
  other.precede(after);
  for (int round = 0; round < 50; ++round) {
    log.clear();
    g.run();
    ASSERT_EQ(log.size(), 5U + 2 * 9 + 4);
    EXPECT_GE(log.place_of("top"), 5U);
    EXPECT_LT(log.place_of("top"), log.place_of("left"));
    EXPECT_EQ(log.place_of("bottom"), 5U + 8);
    EXPECT_EQ(log.place_of("after"), 5U + 18);
  }
  // The graph that was copied still runs, and later changes of it do not matter.
  part.task("new", log.body("new"));
  log.clear();
  g.run();
  EXPECT_EQ(log.count("new"), 0U);
  log.clear();
  part.run();
  EXPECT_EQ(log.size(), 10U);
}

TEST(GraphControl, StepsOfASubgraphOverlapAsItsEdgesAllow) {
  constexpr Index count = 20;
  std::vector<std::atomic<Index>> done(count);
  std::atomic<int> wrong{0};
  Graph part;
  auto cell = part.family("cell", {count}).body([&](const Task& task) {
    if (done[static_cast<std::size_t>(task.key[0])]++ != task.step) ++wrong;
  });
  cell.after(cell, along_axes(1, 1), previous_step);
  Graph g;
  g.add("part", part);
  EXPECT_EQ(g.run({.steps = 100}).tasks, 100 * (count + 2));
  EXPECT_EQ(wrong, 0);
}

TEST(GraphControl, ATaskRunsAnotherGraphWithStepsOfItsOwn) {
  std::atomic<int> ran{0};
  Graph inner;
  inner.family("inner", {10}).body([&] { ++ran; });
  Graph g;
  auto all = g.task("all", [&] { inner.run({.steps = 3}); });
  g.task("check", [&] { EXPECT_EQ(ran % 30, 0); }).after(all);
  g.run({.steps = 4});
  EXPECT_EQ(ran, 120);
}

/// Fibonacci's numbers by graphs that tasks build while they run.
int fibonacci(int n) {
  if (n < 2) return n;
  int one = 0;
  int other = 0;
  Graph g;
  g.task("one", [&] { one = fibonacci(n - 1); });
  g.task("other", [&] { other = fibonacci(n - 2); });
  g.run();
  return one + other;
}

TEST(GraphControl, TasksBuildAndRunGraphs) {
  EXPECT_EQ(fibonacci(10), 55);
}

TEST(GraphControl, WhatCannotBeIsAnError) {
  const Tiling tiling({8}, {});
  Field<double, 1> field(tiling, "field");
  Graph swept;
  swept.over(tiling, "sweep").writes(field).body([](const Box<1>&, auto) {});
  Graph g;
  EXPECT_EQ(error_of([&] { g.add("part", swept); }),
            "graph: part: the subgraph has sweeps; declare these in the graph itself");
  EXPECT_EQ(error_of([&] { g.add("self", g); }), "graph: self: a graph cannot contain itself");
  Graph other;
  auto foreign_task = other.task("foreign", [] {});
  EXPECT_EQ(error_of([&] { g.task("a", [] {}).after(foreign_task); }),
            "graph: a family of another graph");
  auto message = g.send("send", {1}, [](const Key&, int) { return Message{}; });
  EXPECT_EQ(error_of([&] { message.only_if([] { return true; }); }),
            "graph: send has messages, which cannot have a condition");
  EXPECT_EQ(error_of([&] { other.run({.check_every = 0}); }),
            "graph: check_every is below 1; it is the number of steps between two checks");
}

}  // namespace
}  // namespace sorrel::graph
