// Reductions of a graph, alone and over ranks that are functions of this program.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::graph {
namespace {

TEST(Reduction, CombinesTheValuesOfEachStepInTheOrderOfKeys) {
  constexpr Index count = 30;
  Graph g;
  auto a = g.family("a", {count / 5, 5});
  auto b = g.family("b", {2});
  Reduction<std::string> text(g, "text", "");
  auto of_a = text.of(a);
  auto of_b = text.of(b);
  a.body([=](const Task& task) {
    of_a(task) += std::to_string(task.key[0] * 5 + task.key[1] + task.step) + " ";
  });
  b.body([=](const Task& task) {
    // A task need not contribute.
    if (task.key[0] == 1) of_b(task) = "end";
  });
  const auto expected = [](Index step) {
    std::string sum;
    for (Index i = 0; i < count; ++i)
      sum += std::to_string(i + step) + " ";
    return sum + "end";
  };
  g.task("check", [&](const Task& task) {
     EXPECT_EQ(text.value(task.step), expected(task.step));
   }).after(text.result());
  EXPECT_EQ(text.last(), "");
  g.run({.steps = 10});
  EXPECT_EQ(text.last(), expected(9));
  g.run({.steps = 4});
  EXPECT_EQ(text.last(), expected(3));
}

TEST(Reduction, TheNextStepReadsTheValueWhileStepsOverlap) {
  constexpr Index count = 25;
  constexpr Index steps = 200;
  std::vector<std::int64_t> value(count, 1);
  std::atomic<int> wrong{0};
  std::vector<std::int64_t> sums(steps + 1, count);
  Graph g;
  auto cell = g.family("cell", {count});
  Reduction<std::int64_t> sum(g, "sum", 0);
  auto part = sum.of(cell);
  cell.body([&, part](const Task& task) {
    std::int64_t& own = value[static_cast<std::size_t>(task.key[0])];
    // Every task of every step adds what all tasks of the step before had together.
    if (task.step > 0) own = (own + sum.value(task.step - 1)) % 1'000'003;
    part(task) = own;
  });
  cell.after(sum.result(), previous_step);
  // Independent of it: steps of this family run ahead.
  g.family("other", {count}).body([](Index) {});
  g.run({.steps = steps});
  std::vector<std::int64_t> expected(count, 1);
  std::int64_t total = 0;
  for (Index step = 0; step < steps; ++step) {
    std::int64_t next = 0;
    for (std::int64_t& own : expected) {
      if (step > 0) own = (own + total) % 1'000'003;
      next += own;
    }
    total = next;
  }
  EXPECT_EQ(value, expected);
  EXPECT_EQ(sum.last(), total);
  EXPECT_EQ(wrong, 0);
}

TEST(Reduction, ASweepEndsWhenItsResidualIsSmall) {
  constexpr Index n = 24;
  const Tiling tiling({n, n}, {.tile = {6, 8}});
  Field<double, 2> now(tiling, "now");
  Field<double, 2> next(tiling, "next");
  const auto edge = [](Index i, Index) { return i < 0 ? 1.0 : 0.0; };
  now.fill(edge);
  next.fill(edge);
  Graph g;
  Reduction<double> largest(g, "largest change", 0.0,
                            [](double one, double other) { return std::max(one, other); });
  g.over(tiling, "heat")
      .reads(now, star(1))
      .writes(next)
      .reduces(largest)
      .body([](const Box<2>& cells, auto old, auto out, double& change) {
        for (const auto& [i, j] : cells) {
          out(i, j) = 0.25 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1));
          change = std::max(change, std::abs(out(i, j) - old(i, j)));
        }
      });
  g.rotate(now, next);
  const Report report = g.run(
      {.steps = 100'000, .until = [&](Index) { return largest.last() < 1e-6; }, .check_every = 10});
  EXPECT_LT(report.steps, 10'000);
  EXPECT_GT(report.steps, 100);
  EXPECT_EQ(report.steps % 10, 0);
  EXPECT_LT(largest.last(), 1e-6);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      EXPECT_NEAR(now(i, j), 0.25 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1)),
                  2e-6);
}

TEST(Reduction, AFailedStepLeavesNothingForTheNextRun) {
  bool fails = true;
  Graph g;
  auto cell = g.family("cell", {8});
  Reduction<int> sum(g, "sum", 0);
  auto part = sum.of(cell);
  cell.body([&, part](const Task& task) {
    part(task) += 1;
    if (fails && task.key[0] == 7) throw std::runtime_error("seven");
  });
  EXPECT_THROW(g.run(), std::runtime_error);
  fails = false;
  g.run();
  EXPECT_EQ(sum.last(), 8);
}

TEST(Reduction, AFailedRunOfASubgraphLeavesNothingBehind) {
  Graph part, g;
  Reduction<long> sum(part, "sum", 0L);
  auto cell = part.family("cell", {8});
  auto own = sum.of(cell);
  bool fails = true;
  cell.body([&, own](const Task& task) {
    own(task) += 1;
    if (fails && task.key[0] == 7) throw std::runtime_error("seven");
  });
  g.add("part", part);
  EXPECT_THROW(g.run(), std::runtime_error);
  fails = false;
  g.run();
  EXPECT_EQ(sum.last(), 8);
  EXPECT_THROW(g.add("again", part), GraphError) << "both copies would add to one sum";
}

TEST(Reduction, BeforeTheFirstStepThereIsTheNeutralElement) {
  Graph g;
  Reduction<long> sum(g, "sum", 7L, [](long one, long other) { return one + other - 7; });
  auto cell = g.family("cell", {4});
  cell.body([own = sum.of(cell)](const Task& task) { own(task) += 1; });
  std::vector<long> seen;
  g.task("read", [&](const Task& task) {
     seen.push_back(sum.value(task.step - 1));
   }).after(sum.result(), previous_step);
  g.run({.steps = 2});
  g.run({.steps = 4});
  EXPECT_EQ(seen, (std::vector<long>{7, 11, 7, 11, 11, 11}));
}

/// A reduction of the graph and one of a subgraph: their messages have tags of their own.
void reduce_in_subgraph(int rank) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Graph part(over_mpi(MPI_COMM_WORLD));
  Graph g(over_mpi(MPI_COMM_WORLD));
  Reduction<long> of_graph(g, "of graph", 0L);
  Reduction<long> of_part(part, "of part", 0L);
  auto one = g.family("one", {2});
  one.body([left = of_graph.of(one)](const Task& task) { left(task) = 1; });
  auto many = part.family("many", {2});
  many.body([rank, left = of_part.of(many)](const Task& task) { left(task) = 1000 + rank; });
  g.add("part", part);
  g.run({.steps = 3});
  EXPECT_EQ(of_graph.last(), 2 * ranks);
  EXPECT_EQ(of_part.last(), 2 * (1000 * ranks + ranks * (ranks - 1) / 2));
}

TEST(Reduction, ASubgraphHasTagsOfItsOwn) {
  for (const test::Shape& shape : {test::Shape{2, 1}, test::Shape{5, 2}})
    EXPECT_EQ(test::run_ranks(shape, reduce_in_subgraph), 0);
}

class SilentMessenger final : public Messenger {
 public:
  int add(Direction, const Message&, int) override { return 0; }

  void start(int) override {}

  int poll(std::span<int>) override { return 0; }

  int wait(std::span<int>) override { return 0; }

  void clear() override {}
};

TEST(Reduction, AMessengerMustSayWhichRankThisIs) {
  Graph g(std::make_unique<SilentMessenger>());
  try {
    const Reduction<double> sum(g, "sum", 0.0);
    FAIL() << "no error";
  } catch (const GraphError& error) {
    EXPECT_EQ(error.what(),
              std::string("graph: sum: the messenger does not say which rank this is"));
  }
  try {
    const Reduction<std::string> text(g, "text", "");
    FAIL() << "no error";
  } catch (const GraphError& error) {
    EXPECT_EQ(error.what(), std::string("graph: text: its values are not trivially copyable"));
  }
}

/// Affine functions x -> a x + b: their composition depends on the order.
struct Affine {
  std::uint64_t a = 1;
  std::uint64_t b = 0;

  friend bool operator==(const Affine&, const Affine&) = default;
};

Affine compose(const Affine& one, const Affine& other) {
  return {one.a * other.a, one.a * other.b + one.b};
}

/// Two reductions over all ranks, of which the second uses the first, in steps that overlap.
void reduce_over_ranks(int rank) {
  constexpr Index cells = 3;
  constexpr Index steps = 40;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto affine = [](Index cell, Index step) {
    return Affine{2 * static_cast<std::uint64_t>(cell + step) + 3,
                  static_cast<std::uint64_t>(cell)};
  };
  const auto expected = [&](Index step) {
    Affine all;
    for (Index cell = 0; cell < ranks * cells; ++cell)
      all = compose(all, affine(cell, step));
    return all;
  };
  std::vector<Affine> seen;
  std::uint64_t sum_of_last = 0;
  {
    Graph g(over_mpi(MPI_COMM_WORLD));
    EXPECT_EQ(g.rank(), rank);
    EXPECT_EQ(g.rank_count(), ranks);
    auto cell = g.family("cell", {cells});
    Reduction<Affine> all(g, "all", Affine(), compose);
    Reduction<std::uint64_t> sum(g, "sum", 0);
    auto part = all.of(cell);
    cell.body(
        [=](const Task& task) { part(task) = affine(rank * cells + task.key[0], task.step); });
    cell.after(cell, previous_step);
    auto use = g.task("use", [](const Task&) {});
    auto of_use = sum.of(use);
    use.body([&, of_use](const Task& task) {
      seen.push_back(all.value(task.step));
      of_use(task) = all.value(task.step).b;
    });
    use.after(all.result());
    Index asked = 0;
    const Report report =
        g.run({.steps = steps,
               .until =
                   [&](Index done) {
                     asked = done;
                     int own = rank == 0 && done >= 30 ? 1 : 0;
                     MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
                     return own != 0;
                   },
               .check_every = 7});
    EXPECT_EQ(report.steps, 35);
    EXPECT_EQ(asked, 35);
    sum_of_last = sum.last();
  }
  ASSERT_EQ(seen.size(), 35U);
  for (Index step = 0; step < 35; ++step)
    EXPECT_EQ(seen[static_cast<std::size_t>(step)], expected(step)) << "rank " << rank;
  EXPECT_EQ(sum_of_last, static_cast<std::uint64_t>(ranks) * expected(34).b);
}

TEST(Reduction, RanksGetTheSameValueInTheOrderOfRanks) {
  for (const test::Shape shape : {test::Shape{1, 1}, test::Shape{2, 1}, test::Shape{5, 2},
                                  test::Shape{8, 3}, test::Shape{13, 2}})
    EXPECT_EQ(test::run_ranks(shape, reduce_over_ranks), 0);
}

}  // namespace
}  // namespace sorrel::graph
