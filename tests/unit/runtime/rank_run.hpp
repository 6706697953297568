//! RankRun - runs a function as the ranks of a job inside the test's own process.
//!
//! The ranks share the test's globals. Each is between MPI_Init and MPI_Finalize while the function
//! runs.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <mpi.h>
#include <string>

#include "runtime/embedded.hpp"
#include "unit/mpi/net/inproc_transport.hpp"

namespace sorrel::test {

/// The numbers of ranks and workers of a test.
struct Shape {
  int ranks;
  int workers;
  /// Simulated processes, each with that many workers (inproc_transport.hpp).
  int processes = 1;
  /// Whether one process can read another's memory.
  bool can_pull = true;
  /// Simulated nodes of one process, with a simulated network; 0: none.
  int nodes = 0;
  bool is_seeded = false;
  /// If there are several processes: how many are on a node; 0: all.
  int processes_per_node = 0;
  /// Ranks change their worker at random, in most collectives of all ranks.
  bool is_shuffled = false;
};

inline std::string name_of(const testing::TestParamInfo<Shape>& info) {
  const Shape& shape = info.param;
  std::string name = std::to_string(shape.ranks) + "On" + std::to_string(shape.workers);
  if (shape.processes > 1) name += "In" + std::to_string(shape.processes);
  if (shape.nodes > 0) name += "Wired" + std::to_string(shape.nodes);
  if (shape.processes_per_node > 0)
    name += "By" + std::to_string(shape.processes_per_node) + "PerNode";
  if (shape.is_seeded) name += "Seeded";
  if (shape.is_shuffled) name += "Shuffled";
  return shape.can_pull ? name : name + "Push";
}

inline runtime::Config config_of(const Shape& shape) {
  runtime::Config config;
  config.rank_count = shape.ranks;
  config.worker_count = static_cast<std::uint32_t>(shape.workers);
  // A sanitizer may write the whole shadow of a stack.
  config.stack_bytes = std::size_t{1} << 20;
  if (shape.is_seeded) config.seed = seed_of_environment();
  if (shape.is_shuffled) config.shuffle_seed = seed_of_environment();
  if (shape.nodes > 0) {
    config.wire = launch::WireSpec{.node_count = static_cast<std::uint32_t>(shape.nodes),
                                   .latency_ns = 5'000,
                                   .jitter_ns = 20'000,
                                   .bytes_per_second = 2e9,
                                   .seed = seed_of_environment()};
  }
  return config;
}

/// The largest of the ranks' results.
inline int run_ranks(const Shape& shape, const std::function<void(int rank)>& body) {
  if (shape.processes > 1) {
    run_processes({.rank_count = shape.ranks,
                   .process_count = static_cast<std::uint32_t>(shape.processes),
                   .worker_count = static_cast<std::uint32_t>(shape.workers)},
                  {.seed = seed_of_environment(),
                   .can_pull = shape.can_pull,
                   .processes_per_node = static_cast<std::uint32_t>(shape.processes_per_node),
                   .is_shuffled = shape.is_shuffled},
                  body);
    return 0;
  }
  return runtime::run_embedded(config_of(shape), [&](int rank) {
    MPI_Init(nullptr, nullptr);
    body(rank);
    MPI_Finalize();
    return 0;
  });
}

/// Tests that run with several shapes: one rank, several on one worker, on two workers, more
/// workers than cores; in few processes, which notify each other directly, and in many; on
/// simulated nodes that share workers and that have several; with a seed; with ranks that move.
class RankTest : public testing::TestWithParam<Shape> {
 protected:
  void run(const std::function<void(int rank)>& body) { EXPECT_EQ(run_ranks(GetParam(), body), 0); }

  [[nodiscard]] static int size() { return GetParam().ranks; }
};

inline Shape on_nodes(int ranks, int workers, int nodes) {
  return {.ranks = ranks, .workers = workers, .nodes = nodes};
}

inline Shape under_seed(Shape shape) {
  shape.is_seeded = true;
  return shape;
}

inline Shape shuffled(Shape shape) {
  shape.is_shuffled = true;
  return shape;
}

/// Several processes on each of several nodes: few nodes, which notify each other directly; many,
/// with one that is not full; and more processes on a node than receive each other's notifications
/// directly.
inline auto node_shapes() {
  const auto by = [](Shape shape, int processes_per_node) {
    shape.processes_per_node = processes_per_node;
    return shape;
  };
  return testing::Values(by({9, 2, 4}, 2), by({70, 1, 5}, 2), by({11, 1, 11}, 2),
                         by({11, 1, 11}, 10));
}

inline auto process_shapes() {
  return testing::Values(Shape{2, 1, 2}, Shape{2, 1, 2, false}, Shape{7, 1, 3}, Shape{33, 2, 2},
                         Shape{9, 2, 2, false}, Shape{70, 2, 2}, Shape{11, 1, 11},
                         on_nodes(6, 2, 6), on_nodes(9, 4, 2), under_seed(on_nodes(8, 1, 4)),
                         shuffled({9, 2, 2}), shuffled({33, 3, 2, false}));
}

inline auto all_shapes() {
  return testing::Values(
      Shape{1, 1}, Shape{2, 1}, Shape{2, 2}, Shape{5, 2}, Shape{33, 3}, Shape{2, 1, 2},
      Shape{2, 1, 2, false}, Shape{7, 1, 3}, Shape{33, 2, 2}, Shape{9, 2, 2, false},
      Shape{70, 2, 2}, Shape{11, 1, 11}, on_nodes(7, 1, 3), on_nodes(33, 2, 2), under_seed({5, 1}),
      shuffled({9, 2}), shuffled({70, 4}), shuffled({9, 2, 2, false}), shuffled({33, 3, 2}));
}

}  // namespace sorrel::test
