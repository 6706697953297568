// Parallel loops inside of a graph's tasks, which other threads run at the same time: in a plain
// program, and in ranks, whose workers tasks and loops share.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <mpi.h>

#include <sorrel/graph.hpp>
#include <sorrel/parallel.hpp>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::graph {
namespace {

constexpr Index cells = 6;
constexpr Index steps = 20;
constexpr std::int64_t iterations = 20'000;

void run_tasks_with_loops() {
  std::array<std::int64_t, cells> sums{};
  Graph g;
  auto cell = g.family("cell", {cells}).body([&](const Task& task) {
    sums[static_cast<std::size_t>(task.key[0])] += parallel_reduce(
        0, iterations, std::int64_t{0},
        [&](Range part, std::int64_t partial) {
          for (const std::int64_t i : part)
            partial += i + task.step;
          return partial;
        },
        std::plus<>());
  });
  cell.after(cell, along_axes(1, 1), previous_step);
  EXPECT_EQ(g.run({.steps = steps}).tasks, steps * cells);
  constexpr std::int64_t right =
      steps * (iterations * (iterations - 1) / 2) + iterations * (steps * (steps - 1) / 2);
  for (const std::int64_t sum : sums)
    EXPECT_EQ(sum, right);
}

TEST(LoopsInTasks, OfAPlainProgramGiveTheSameSums) {
  run_tasks_with_loops();
}

TEST(LoopsInTasks, OfRanksShareTheJobsWorkers) {
  const int status = test::run_ranks({5, 2}, [](int) {
    run_tasks_with_loops();
    MPI_Barrier(MPI_COMM_WORLD);
    run_tasks_with_loops();
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sorrel::graph
