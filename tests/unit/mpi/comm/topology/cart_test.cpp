#include "mpi/comm/topology/cart.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <mpi.h>
#include <set>
#include <vector>

namespace sorrel::mpi {
namespace {

using Ints = std::vector<int>;

CartTopology::Pointer cart(const Ints& dims, const Ints& periods) {
  CartTopology::Pointer made;
  ErrorDetail detail;
  EXPECT_EQ(CartTopology::make(dims, periods, 1'000'000, &made, detail), MPI_SUCCESS);
  return made;
}

int rank_of(const CartTopology& grid, const Ints& coords) {
  int rank = -1;
  ErrorDetail detail;
  EXPECT_EQ(grid.rank_of(coords.data(), &rank, detail), MPI_SUCCESS) << detail.text();
  return rank;
}

Ints coords_of(const CartTopology& grid, int rank) {
  Ints coords(static_cast<std::size_t>(grid.dimension_count()));
  grid.coords_of(rank, coords.data(), grid.dimension_count());
  return coords;
}

TEST(CartTopology, NumbersRanksWithTheLastCoordinateFastest) {
  const auto grid = cart({2, 3, 4}, {0, 0, 0});
  EXPECT_EQ(grid->size(), 24);
  EXPECT_EQ(coords_of(*grid, 0), (Ints{0, 0, 0}));
  EXPECT_EQ(coords_of(*grid, 1), (Ints{0, 0, 1}));
  EXPECT_EQ(coords_of(*grid, 4), (Ints{0, 1, 0}));
  EXPECT_EQ(coords_of(*grid, 23), (Ints{1, 2, 3}));
  for (int rank = 0; rank < grid->size(); ++rank)
    EXPECT_EQ(rank_of(*grid, coords_of(*grid, rank)), rank);
}

TEST(CartTopology, WrapsCoordinatesOnlyWherePeriodic) {
  const auto grid = cart({3, 4}, {1, 0});
  EXPECT_EQ(rank_of(*grid, {-1, 2}), rank_of(*grid, {2, 2}));
  EXPECT_EQ(rank_of(*grid, {-7, 2}), rank_of(*grid, {2, 2}));
  EXPECT_EQ(rank_of(*grid, {6, 2}), rank_of(*grid, {0, 2}));
  EXPECT_EQ(rank_of(*grid, {std::numeric_limits<int>::min(), 0}), rank_of(*grid, {1, 0}));
  int rank = -1;
  ErrorDetail detail;
  const Ints outside{0, 4};
  EXPECT_EQ(grid->rank_of(outside.data(), &rank, detail), MPI_ERR_ARG);
  EXPECT_STREQ(detail.text(),
               "coords[1] is 4; in a dimension that is not periodic it must be in 0..3");
  EXPECT_EQ(rank, -1);
}

TEST(CartTopology, ShiftEndsAtTheRimOrGoesAround) {
  const auto grid = cart({3, 4}, {1, 0});
  const auto around = grid->shift(rank_of(*grid, {0, 1}), 0, 1);
  EXPECT_EQ(around.source, rank_of(*grid, {2, 1}));
  EXPECT_EQ(around.destination, rank_of(*grid, {1, 1}));
  const auto rim = grid->shift(rank_of(*grid, {1, 3}), 1, 1);
  EXPECT_EQ(rim.source, rank_of(*grid, {1, 2}));
  EXPECT_EQ(rim.destination, MPI_PROC_NULL);
  const auto back = grid->shift(rank_of(*grid, {1, 0}), 1, -2);
  EXPECT_EQ(back.source, rank_of(*grid, {1, 2}));
  EXPECT_EQ(back.destination, MPI_PROC_NULL);
  const auto nowhere = grid->shift(5, 1, 0);
  EXPECT_EQ(nowhere.source, 5);
  EXPECT_EQ(nowhere.destination, 5);
}

TEST(CartTopology, ShiftTakesAnyDisplacement) {
  const auto grid = cart({5, 1}, {1, 0});
  for (const int displacement :
       {std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 5, -12}) {
    const auto shift = grid->shift(2, 0, displacement);
    const long long to = ((2LL + displacement) % 5 + 5) % 5;
    const long long from = ((2LL - displacement) % 5 + 5) % 5;
    EXPECT_EQ(shift.destination, to);
    EXPECT_EQ(shift.source, from);
    EXPECT_EQ(grid->shift(2, 1, displacement).destination, MPI_PROC_NULL);
  }
}

TEST(CartTopology, SliceKeepsExtentsAndPeriodsOfTheRemainingDimensions) {
  const auto grid = cart({2, 3, 4}, {1, 0, 1});
  const Ints remain{1, 0, 1};
  const auto part = grid->slice(remain.data());
  ASSERT_EQ(part->dimension_count(), 2);
  EXPECT_EQ(part->extent(0), 2);
  EXPECT_EQ(part->extent(1), 4);
  EXPECT_TRUE(part->is_periodic(1));
  EXPECT_EQ(part->size(), 8);
}

TEST(CartTopology, SlicesSplitTheRanksIntoGridsOfTheirOwn) {
  const auto grid = cart({2, 3, 4}, {0, 0, 0});
  const Ints remain{0, 1, 1};
  const auto part = grid->slice(remain.data());
  std::set<std::pair<int, int>> seen;
  for (int rank = 0; rank < grid->size(); ++rank) {
    const auto slice = grid->slice_of(rank, remain.data());
    const Ints coords = coords_of(*grid, rank);
    EXPECT_EQ(slice.color, coords[0]);
    EXPECT_EQ(slice.key, rank_of(*part, {coords[1], coords[2]}));
    EXPECT_TRUE(seen.emplace(slice.color, slice.key).second);
  }
}

TEST(CartTopology, NoRemainingDimensionGivesGridsOfOneRank) {
  const auto grid = cart({2, 3}, {0, 0});
  const Ints remain{0, 0};
  const auto part = grid->slice(remain.data());
  EXPECT_EQ(part->dimension_count(), 0);
  EXPECT_EQ(part->size(), 1);
  EXPECT_EQ(rank_of(*part, {}), 0);
  EXPECT_EQ(grid->slice_of(5, remain.data()).color, 5);
  EXPECT_EQ(grid->slice_of(5, remain.data()).key, 0);
}

TEST(CartTopology, ListsTheNeighborsOfEachDimensionNegativeDirectionFirst) {
  const Neighborhood middle = cart({3, 4}, {1, 0})->neighborhood_of(0);
  EXPECT_EQ(middle.sources, (std::vector<int>{8, 4, MPI_PROC_NULL, 1}));
  EXPECT_EQ(middle.destinations, middle.sources);
  EXPECT_TRUE(middle.is_paired);
  EXPECT_TRUE(cart({}, {})->neighborhood_of(0).sources.empty());
}

TEST(CartTopology, RefusesAGridThatIsTooLargeOrEmpty) {
  CartTopology::Pointer made;
  ErrorDetail detail;
  const Ints periods{0, 0, 0, 0};
  EXPECT_EQ(CartTopology::make(Ints{2, 0}, periods, 8, &made, detail), MPI_ERR_DIMS);
  EXPECT_STREQ(detail.text(), "dims[1] is 0; it must be at least 1");
  EXPECT_EQ(CartTopology::make(Ints{3, 3}, periods, 8, &made, detail), MPI_ERR_TOPOLOGY);
  const int many = std::numeric_limits<int>::max();
  EXPECT_EQ(CartTopology::make(Ints{many, many, many, many}, periods, 8, &made, detail),
            MPI_ERR_TOPOLOGY);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace sorrel::mpi
