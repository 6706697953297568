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

namespace sorrel::test {

/// How many ranks and workers a test runs with.
struct Shape {
  int ranks;
  int workers;
};

inline std::string name_of(const testing::TestParamInfo<Shape>& info) {
  return std::to_string(info.param.ranks) + "On" + std::to_string(info.param.workers);
}

inline runtime::Config config_of(const Shape& shape) {
  runtime::Config config;
  config.rank_count = shape.ranks;
  config.worker_count = static_cast<std::uint32_t>(shape.workers);
  return config;
}

/// The worst of the ranks' results.
inline int run_ranks(const Shape& shape, const std::function<void(int rank)>& body) {
  return runtime::run_embedded(config_of(shape), [&](int rank) {
    MPI_Init(nullptr, nullptr);
    body(rank);
    MPI_Finalize();
    return 0;
  });
}

/// Tests that run with several shapes: alone, together on one worker, apart on two, and more
/// workers than cores.
class RankTest : public testing::TestWithParam<Shape> {
 protected:
  void run(const std::function<void(int rank)>& body) { EXPECT_EQ(run_ranks(GetParam(), body), 0); }

  [[nodiscard]] static int size() { return GetParam().ranks; }
};

inline auto all_shapes() {
  return testing::Values(Shape{1, 1}, Shape{2, 1}, Shape{2, 2}, Shape{5, 2}, Shape{33, 3});
}

}  // namespace sorrel::test
