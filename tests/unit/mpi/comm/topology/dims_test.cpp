#include "mpi/comm/topology/dims.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <mpi.h>
#include <numeric>
#include <vector>

namespace sorrel::mpi {
namespace {

using Dims = std::vector<int>;

Dims created(int rank_count, Dims dims) {
  ErrorDetail detail;
  EXPECT_EQ(dims_create(rank_count, dims, detail), MPI_SUCCESS) << detail.text();
  return dims;
}

// The slow oracle: the smallest spread of all non-increasing factorisations, by trying each.
int smallest_spread(int rest, int factor_count, int largest, int limit) {
  if (factor_count == 0) return rest == 1 ? largest - limit : std::numeric_limits<int>::max();
  int best = std::numeric_limits<int>::max();
  for (int factor = 1; factor <= std::min(rest, limit); ++factor) {
    if (rest % factor != 0) continue;
    const int spread =
        smallest_spread(rest / factor, factor_count - 1, std::max(largest, factor), factor);
    best = std::min(best, spread);
  }
  return best;
}

TEST(DimsCreate, IsAsBalancedAsAnyFactorisation) {
  for (const int dimension_count : {1, 2, 3, 4}) {
    for (int rank_count = 1; rank_count <= 600; ++rank_count) {
      const Dims dims = created(rank_count, Dims(static_cast<std::size_t>(dimension_count), 0));
      EXPECT_EQ(dims.front() - dims.back(),
                smallest_spread(rank_count, dimension_count, 0, rank_count))
          << rank_count << " ranks, " << dimension_count << " dimensions";
    }
  }
}

TEST(DimsCreate, KeepsTheProductAndTheOrder) {
  for (const int rank_count : {1, 7, 4096, 30030, 1048576, 735134400, 2147483647}) {
    for (std::size_t dimension_count = 1; dimension_count <= 12; ++dimension_count) {
      const Dims dims = created(rank_count, Dims(dimension_count, 0));
      EXPECT_EQ(std::accumulate(dims.begin(), dims.end(), 1LL, std::multiplies<>()), rank_count);
      EXPECT_TRUE(std::is_sorted(dims.rbegin(), dims.rend())) << rank_count;
    }
  }
}

TEST(DimsCreate, AgreesWithMpichWhereGreedyChoicesFail) {
  EXPECT_EQ(created(16, {0, 0, 0}), (Dims{4, 2, 2}));
  EXPECT_EQ(created(36, {0, 0, 0}), (Dims{4, 3, 3}));
  EXPECT_EQ(created(360, {0, 0, 0}), (Dims{10, 6, 6}));
  EXPECT_EQ(created(1000, {0, 0}), (Dims{40, 25}));
  EXPECT_EQ(created(4096, {0, 0, 0}), (Dims{16, 16, 16}));
}

TEST(DimsCreate, FillsOnlyTheFreeEntries) {
  EXPECT_EQ(created(24, {0, 3, 0}), (Dims{4, 3, 2}));
  EXPECT_EQ(created(6, {0, 0, 6}), (Dims{1, 1, 6}));
  EXPECT_EQ(created(6, {2, 3}), (Dims{2, 3}));
  EXPECT_EQ(created(6, {}), Dims{});
}

TEST(DimsCreate, RefusesEntriesThatDoNotDivideTheRanks) {
  ErrorDetail detail;
  Dims dims{0, 4, 0};
  EXPECT_EQ(dims_create(6, dims, detail), MPI_ERR_DIMS);
  EXPECT_EQ(dims, (Dims{0, 4, 0}));
  EXPECT_STREQ(detail.text(),
               "nnodes is 6; the product of the nonzero dims must divide it (dims[1] is 4)");
  dims = {4, 4};
  EXPECT_EQ(dims_create(8, dims, detail), MPI_ERR_DIMS);
}

TEST(DimsCreate, RefusesNegativeEntriesAndNoRanks) {
  ErrorDetail detail;
  Dims dims{-1, 0};
  EXPECT_EQ(dims_create(6, dims, detail), MPI_ERR_DIMS);
  dims = {0, 0};
  EXPECT_EQ(dims_create(0, dims, detail), MPI_ERR_ARG);
  EXPECT_EQ(dims_create(-4, dims, detail), MPI_ERR_ARG);
}

}  // namespace
}  // namespace sorrel::mpi
