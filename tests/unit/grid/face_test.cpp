#include "grid/plan/face.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"
#include "grid/plan/process_grids.hpp"
#include "unit/grid/random_problem.hpp"

namespace sorrel::grid {
namespace {

Problem cube(std::int64_t n) {
  Problem problem;
  problem.extents = {n, n, n};
  return problem;
}

// The slow oracle: the memory positions of the cells at the low end of a dimension, ascending,
// counted in elements. Ghosts of the dimensions in `widened` are included.
std::vector<std::int64_t> places_of_face(const Problem& problem,
                                         const Extents& block,
                                         std::size_t dimension,
                                         const PerDimension<bool>& widened) {
  const Extents room = padded(problem, block);
  Extents first{};
  Extents last{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t ghosts = (room[d] - block[d]) / 2;
    first[d] = widened[d] ? 0 : ghosts;
    last[d] = widened[d] ? room[d] : ghosts + block[d];
  }
  last[dimension] = first[dimension] + problem.halo_width;
  std::vector<std::int64_t> places;
  for (std::int64_t x = first[0]; x < last[0]; ++x)
    for (std::int64_t y = first[1]; y < last[1]; ++y)
      for (std::int64_t z = first[2]; z < last[2]; ++z)
        places.push_back(problem.order == MemoryOrder::c ? (x * room[1] + y) * room[2] + z
                                                         : (z * room[1] + y) * room[0] + x);
  std::sort(places.begin(), places.end());
  return places;
}

// Length of the first run of consecutive positions.
std::int64_t first_run(const std::vector<std::int64_t>& places) {
  std::size_t count = 1;
  while (count < places.size() && places[count] == places[count - 1] + 1)
    ++count;
  return static_cast<std::int64_t>(count);
}

TEST(Faces, LieInMemoryAsCountingTheirCellsTells) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 200; ++round) {
    const Problem problem = random_problem(prng);
    const int ranks = usable_ranks(problem, static_cast<int>(1 + prng.below(12)));
    for (const ProcessGrid& grid : process_grids(problem, ranks)) {
      const Extents block = largest_block(problem, grid);
      PerDimension<bool> widened{};
      for (const Face& face : faces_of(problem, grid)) {
        if (face.side_count == 0) continue;
        SCOPED_TRACE(text_of(problem) + ", dimension " + std::to_string(face.dimension));
        const auto places = places_of_face(problem, block, face.dimension, widened);
        const auto cells = static_cast<std::int64_t>(places.size());
        EXPECT_EQ(face.bytes, cells * problem.element_bytes * problem.field_count);
        const std::int64_t run = face.run_bytes / problem.element_bytes;
        EXPECT_EQ(first_run(places), run);
        if (cells > run) {
          EXPECT_EQ(places[static_cast<std::size_t>(run)] - places[0],
                    face.stride_bytes / problem.element_bytes);
        }
        if (problem.stencil == Stencil::box) widened[face.dimension] = true;
      }
    }
  }
}

TEST(Faces, AcrossTheOutermostDimensionAreOneRunWithTheirGhosts) {
  const auto faces = faces_of(cube(64), {4, 2, 1});
  EXPECT_EQ(faces[0].direct_bytes, 34 * 66 * 8);
  EXPECT_EQ(faces[1].direct_bytes, 0);
  EXPECT_EQ(faces[2].direct_bytes, 0);
}

TEST(Faces, OfSeveralFieldsAreNoSingleRun) {
  Problem problem = cube(64);
  problem.field_count = 2;
  EXPECT_EQ(faces_of(problem, {4, 1, 1})[0].direct_bytes, 0);
}

TEST(Faces, OfFortranArraysAreContiguousAtTheOtherEnd) {
  Problem problem = cube(64);
  problem.order = MemoryOrder::fortran;
  const auto faces = faces_of(problem, {2, 2, 2});
  EXPECT_GT(faces[2].direct_bytes, 0);
  EXPECT_EQ(faces[0].run_bytes, 8);
  EXPECT_EQ(faces[1].run_bytes, 32 * 8);
}

TEST(Faces, HaveNeighboursAsTheBoundariesTell) {
  Problem problem = cube(64);
  problem.is_periodic = {true, false, true};
  const auto faces = faces_of(problem, {1, 2, 3});
  EXPECT_EQ(faces[0].side_count, 2);
  EXPECT_TRUE(faces[0].is_own);
  EXPECT_EQ(faces[1].side_count, 1);
  EXPECT_EQ(faces[2].side_count, 2);
  EXPECT_FALSE(faces[2].is_own);
}

}  // namespace
}  // namespace sorrel::grid
