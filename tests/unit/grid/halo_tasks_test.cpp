#include <algorithm>
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>
#include <sorrel/grid/halo_tasks.hpp>

#include "unit/grid/halo_reference.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::grid {
namespace {

using graph::previous_step;
using graph::Task;

// One rank's part of a configuration.
struct Part {
  Setting setting;
  int rank = 0;
  Box<3> block{};

  [[nodiscard]] bool is_used() const { return rank < setting.cut.rank_count(); }

  [[nodiscard]] Fields fields() const {
    Fields fields(setting.problem, padded(setting.problem, block.extents()), setting.gap_bytes);
    fill(setting.problem, block, fields);
    return fields;
  }

  [[nodiscard]] int wrong(const Fields& fields, std::int64_t step) const {
    return wrong_cells(setting.problem, block, fields, step);
  }
};

class HalosOfGraphs : public test::RankTest {
 protected:
  // All ranks use the same configurations.
  template <class Body>
  void run_settings(Body&& body) {
    SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
    run([&](int rank) {
      Prng prng(test_seed());
      int size = 0;
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      for (int round = 0; round < 20; ++round) {
        Part part{.setting = random_setting(prng, size), .rank = rank};
        const Cut& cut = part.setting.cut;
        if (part.is_used())
          part.block =
              block_at(part.setting.problem, cut.grid, coords_of(rank, cut.grid, cut.brick));
        EXPECT_EQ(body(part), 0) << text_of(part.setting, rank);
      }
    });
  }
};

TEST_P(HalosOfGraphs, FillGhostsBetweenTasksOfOneStep) {
  run_settings([](const Part& part) {
    Fields fields = part.fields();
    Graph graph(graph::over_mpi(MPI_COMM_WORLD));
    auto halo = HaloTasks::add(graph, {.problem = part.setting.problem,
                                       .cut = part.setting.cut,
                                       .rank = part.rank,
                                       .fields = fields.views()});
    EXPECT_TRUE(halo.has_value()) << halo.error();
    if (!part.is_used()) return 0;
    std::atomic<int> wrong = 0;
    auto write = graph.family("write", {1});
    write.body(
        [&](const Task& task) { update(part.setting.problem, part.block, fields, task.step); });
    HaloTasks tasks = halo.value();
    tasks.start_after(write);
    auto check = graph.family("check", {1});
    check.body([&](const Task& task) { wrong += part.wrong(fields, task.step); });
    // Without neighbours no other edge orders these.
    check.after(write);
    tasks.fill_before(check);
    graph.run({.steps = 3});
    return wrong.load();
  });
}

TEST_P(HalosOfGraphs, LeaveCellsAloneUntilTheyAreSent) {
  run_settings([](const Part& part) {
    Fields fields = part.fields();
    Graph graph(graph::over_mpi(MPI_COMM_WORLD));
    auto halo = HaloTasks::add(graph, {.problem = part.setting.problem,
                                       .cut = part.setting.cut,
                                       .rank = part.rank,
                                       .fields = fields.views(),
                                       .first_tag = 100});
    EXPECT_TRUE(halo.has_value()) << halo.error();
    if (!part.is_used()) return 0;
    std::atomic<int> wrong = 0;
    auto check = graph.family("check", {1});
    check.body([&](const Task& task) { wrong += part.wrong(fields, task.step); });
    for (int dimension = 0; dimension < dimension_count_max; ++dimension)
      halo.value().fill_before(check, dimension);
    auto write = graph.family("write", {1});
    write.body(
        [&](const Task& task) { update(part.setting.problem, part.block, fields, task.step + 1); });
    write.after(check);
    halo.value().leave_before(write);
    graph.run({.steps = 3});
    return wrong.load();
  });
}

TEST_P(HalosOfGraphs, FollowTwoArraysThroughStepsThatOverlap) {
  run_settings([](const Part& part) {
    std::array fields{part.fields(), part.fields()};
    Graph graph(graph::over_mpi(MPI_COMM_WORLD));
    auto halo = HaloTasks::add(graph, {.problem = part.setting.problem,
                                       .cut = part.setting.cut,
                                       .rank = part.rank,
                                       .fields = fields[0].views(),
                                       .fields_of_odd_steps = fields[1].views()});
    EXPECT_TRUE(halo.has_value()) << halo.error();
    if (!part.is_used()) return 0;
    std::atomic<int> wrong = 0;
    auto check = graph.family("check", {1});
    check.body([&](const Task& task) {
      wrong += part.wrong(fields[static_cast<std::size_t>(task.step & 1)], task.step);
    });
    // For the next step's cells.
    auto write = graph.family("write", {1});
    write.body([&](const Task& task) {
      Fields& next = fields[static_cast<std::size_t>(1 - (task.step & 1))];
      update(part.setting.problem, part.block, next, task.step + 1);
    });
    HaloTasks tasks = halo.value();
    tasks.start_after(write, previous_step);
    tasks.fill_before(check);
    tasks.leave_before(write, previous_step);
    write.after(check, previous_step);
    check.after(write, previous_step);
    graph.run({.steps = 6});
    return wrong.load();
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, HalosOfGraphs, test::all_shapes(), test::name_of);

TEST(HaloTasks, RefuseWhatDoesNotFit) {
  Problem problem;
  problem.extents = {8, 8, 1};
  Cut cut;
  cut.grid = cut.brick = {2, 1, 1};
  std::vector<double> data(100);
  const ArrayView view = dense_view(data.data(), {4, 10, 1}, 8, MemoryOrder::c);
  Graph graph;
  const auto error = [&](int first_tag) {
    return HaloTasks::add(graph, {.problem = problem,
                                  .cut = cut,
                                  .rank = 0,
                                  .fields = {&view, 1},
                                  .first_tag = first_tag})
        .error_or("");
  };
  EXPECT_EQ(error(0),
            "field 0 has 4 cells in dimension 0; it must be the block with its ghosts, 6");
  EXPECT_EQ(error(-1), "first_tag is -1; it must be from 0 to 15995");
  problem.extents = {0, 8, 1};
  EXPECT_NE(error(0), "");
}

}  // namespace
}  // namespace sorrel::grid
