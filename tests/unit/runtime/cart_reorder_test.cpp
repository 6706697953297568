#include <array>
#include <gtest/gtest.h>
#include <mpi.h>

#include "unit/runtime/rank_run.hpp"

namespace sorrel {
namespace {

using Coords = std::array<int, 3>;

// Coordinates of every world rank in a grid that is made with the hint `extents` (null: none).
std::array<Coords, 16> coords_with_hint(const Coords& dims, const char* extents, int reorder) {
  std::array<Coords, 16> all{};
  test::run_ranks({.ranks = 16, .workers = 2}, [&](int rank) {
    MPI_Comm hinted = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &hinted);
    if (extents != nullptr) {
      MPI_Info info = MPI_INFO_NULL;
      MPI_Info_create(&info);
      MPI_Info_set(info, "sorrel_grid_extents", extents);
      MPI_Comm_set_info(hinted, info);
      MPI_Info_free(&info);
    }
    const int periods[3] = {0, 0, 0};
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(hinted, 3, dims.data(), periods, reorder, &cart);
    int cart_rank = -1;
    MPI_Comm_rank(cart, &cart_rank);
    MPI_Cart_coords(cart, cart_rank, 3, all[static_cast<std::size_t>(rank)].data());
    MPI_Comm_free(&cart);
    MPI_Comm_free(&hinted);
  });
  return all;
}

bool are_in_order(const std::array<Coords, 16>& all, const Coords& dims) {
  for (int rank = 0; rank < 16; ++rank) {
    const Coords& at = all[static_cast<std::size_t>(rank)];
    if ((at[0] * dims[1] + at[1]) * dims[2] + at[2] != rank) return false;
  }
  return true;
}

// Row-major order would give worker 0 the low half of dimension 0, whose cut is the largest face.
TEST(CartReorder, WorkersShareTheSmallestFaces) {
  const auto all = coords_with_hint({2, 2, 4}, "64,64,1024", 1);
  for (int rank = 0; rank < 16; ++rank)
    EXPECT_EQ(all[static_cast<std::size_t>(rank)][2] / 2, rank / 8) << rank;
}

TEST(CartReorder, KeepsTheOrderWithoutReorderOrHint) {
  EXPECT_TRUE(are_in_order(coords_with_hint({2, 2, 4}, "64,64,1024", 0), {2, 2, 4}));
  EXPECT_TRUE(are_in_order(coords_with_hint({2, 2, 4}, nullptr, 1), {2, 2, 4}));
}

TEST(CartReorder, KeepsTheOrderWithAHintThatCannotBeMeant) {
  for (const char* hint : {"64,64", "64,64,1024,1", "64,64,", "a,b,c", "64,64,3", "-1,64,64"})
    EXPECT_TRUE(are_in_order(coords_with_hint({2, 2, 4}, hint, 1), {2, 2, 4})) << hint;
}

}  // namespace
}  // namespace sorrel
