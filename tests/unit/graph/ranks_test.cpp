// Graphs in ranks that are functions of this program, so that the thread sanitizer sees the owners,
// their helpers and their messages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <mpi.h>
#include <span>
#include <vector>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "sorrel.h"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::graph {
namespace {

using Value = std::uint64_t;

constexpr Index cells = 16;
constexpr Index steps = 60;

/// Value of cell `place` of a ring of cells after all steps.
std::vector<Value> by_loop(std::size_t count) {
  std::vector<Value> now(count);
  std::vector<Value> next(count);
  for (std::size_t i = 0; i < count; ++i)
    now[i] = i * i + 1;
  for (Index step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i)
      next[i] = now[(i + count - 1) % count] + 3 * now[i] + 5 * now[(i + 1) % count];
    now.swap(next);
  }
  return now;
}

/// A line of cells in each rank, whose ends travel round in every step; steps overlap.
void run_ring(int rank) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::array<int, 2> peers{(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  const auto count = static_cast<std::size_t>(ranks * cells);
  const std::size_t first = static_cast<std::size_t>(rank * cells);
  std::array<std::vector<Value>, 2> line;
  line.fill(std::vector<Value>(cells + 2));
  for (std::size_t i = 0; i < cells + 2; ++i) {
    const std::size_t place = (first + i + count - 1) % count;
    line[0][i] = place * place + 1;
  }
  {
    Graph g(over_mpi(MPI_COMM_WORLD));
    auto cell = g.family("cell", {cells}).body([&](const Task& task) {
      const auto i = static_cast<std::size_t>(task.key[0] + 1);
      const std::vector<Value>& now = line[static_cast<std::size_t>(task.step % 2)];
      line[static_cast<std::size_t>((task.step + 1) % 2)][i] =
          now[i - 1] + 3 * now[i] + 5 * now[i + 1];
    });
    const auto message = [&](std::size_t end, int tag, std::size_t place) {
      return [&, end, tag, place](const Key&, int slot) {
        Value& value = line[static_cast<std::size_t>(1 - slot)][place];
        return Message{peers[end], tag, std::as_writable_bytes(std::span(&value, 1)), {}};
      };
    };
    cell.after(cell, along_axes(1, 1), previous_step);
    for (const int end : {0, 1}) {
      const Index last = end == 0 ? 0 : cells - 1;
      const auto at_end = static_cast<std::size_t>(end);
      auto send = g.send(end == 0 ? "send low" : "send high", {1},
                         message(at_end, end, end == 0 ? 1 : cells));
      auto receive = g.receive(end == 0 ? "receive low" : "receive high", {1},
                               message(at_end, 1 - end, end == 0 ? 0 : cells + 1));
      send.after(cell, at(last));
      receive.after(cell, at(last), previous_step);
      cell.after(receive, at(dim(0) - last), previous_step);
    }
    const Report report = g.run({.steps = steps});
    EXPECT_EQ(report.tasks, steps * (cells + 4));
  }
  const std::vector<Value> right = by_loop(count);
  for (std::size_t i = 0; i < cells; ++i)
    EXPECT_EQ(line[steps % 2][i + 1], right[first + i]) << "rank " << rank << ", cell " << i;
}

using test::Shape;

TEST(GraphInRanks, StepsOverlapAcrossARing) {
  for (const Shape shape : {Shape{1, 2}, Shape{3, 3}, Shape{8, 2}})
    EXPECT_EQ(test::run_ranks(shape, run_ring), 0);
}

TEST(GraphInRanks, OneWorkerIsThereForMessages) {
  for (const Shape shape : {Shape{1, 2}, Shape{5, 3}}) {
    runtime::Config config = test::config_of(shape);
    config.has_comm_worker = true;
    EXPECT_EQ(runtime::run_embedded(config,
                                    [](int rank) {
                                      MPI_Init(nullptr, nullptr);
                                      EXPECT_NE(sorrel_is_comm_worker(), 0);
                                      run_ring(rank);
                                      MPI_Finalize();
                                      return 0;
                                    }),
              0);
  }
}

TEST(GraphInRanks, PretendNodesShareTheWorkerForMessages) {
  runtime::Config config = test::config_of({6, 2});
  config.has_comm_worker = true;
  config.wire = launch::WireSpec{.node_count = 3, .latency_ns = 20'000, .bytes_per_second = 1e9};
  EXPECT_EQ(runtime::run_embedded(config,
                                  [](int rank) {
                                    MPI_Init(nullptr, nullptr);
                                    run_ring(rank);
                                    MPI_Finalize();
                                    return 0;
                                  }),
            0);
}

}  // namespace
}  // namespace sorrel::graph
