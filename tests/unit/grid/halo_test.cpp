#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/grid/halo.hpp>
#include <sorrel/grid/verify.hpp>

#include "grid/halo/sides.hpp"
#include "unit/grid/halo_reference.hpp"
#include "unit/grid/simple_machine.hpp"
#include "unit/runtime/rank_run.hpp"

namespace sorrel::grid {
namespace {

class Halos : public test::RankTest {};

TEST_P(Halos, FillGhostsAsThePlainReferenceHasThem) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  run([](int rank) {
    Prng prng(test_seed());
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 40; ++round) {
      const Setting setting = random_setting(prng, size);
      const Problem& problem = setting.problem;
      Box<3> block;
      if (rank < setting.cut.rank_count())
        block = block_at(problem, setting.cut.grid,
                         coords_of(rank, setting.cut.grid, setting.cut.brick));
      Fields fields(problem, padded(problem, block.extents()), setting.gap_bytes);
      fill(problem, block, fields);
      Result<Halo> made = Halo::make(MPI_COMM_WORLD, problem, setting.cut, fields.views());
      ASSERT_TRUE(made.has_value()) << made.error();
      Halo halo = std::move(made).value();
      if (round % 2 == 0) {
        halo.exchange();
      } else {
        halo.begin();
        halo.poll();
        halo.finish();
      }
      if (rank >= setting.cut.rank_count()) continue;
      EXPECT_EQ(wrong_cells(problem, block, fields), 0) << text_of(setting, rank);
    }
  });
}

TEST_P(Halos, WorkOverACommunicatorOfTheUsersOwn) {
  run([](int rank) {
    // Ranks in reverse order.
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    int place = 0;
    int size = 0;
    MPI_Comm_rank(reversed, &place);
    MPI_Comm_size(reversed, &size);
    Problem problem;
    problem.extents = {std::max(40, 2 * size), 6, 1};
    problem.is_periodic = {true, false, false};
    Cut cut;
    cut.grid = cut.brick = {size, 1, 1};
    const Box<3> block = block_at(problem, cut.grid, {place, 0, 0});
    Fields fields(problem, padded(problem, block.extents()), 0);
    fill(problem, block, fields);
    Result<Halo> halo = Halo::make(reversed, problem, cut, fields.views());
    ASSERT_TRUE(halo.has_value()) << halo.error();
    Halo ready = std::move(halo).value();
    MPI_Comm_free(&reversed);
    ready.exchange();
    EXPECT_EQ(wrong_cells(problem, block, fields), 0);
  });
}

// Large faces of short runs, which are sent in parts; also with a slab that includes ghosts.
TEST_P(Halos, FillGhostsOfFacesInParts) {
  run([](int rank) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int across = size % 2 == 0 ? 2 : 1;
    const std::pair<Stencil, Pack> ways[] = {{Stencil::star, Pack::rows},
                                             {Stencil::star, Pack::blocked},
                                             {Stencil::box, Pack::datatype}};
    for (const auto& [stencil, pack] : ways) {
      Setting setting;
      setting.problem.extents = {180, 97, std::max(2, size)};
      setting.problem.is_periodic = {false, true, true};
      setting.problem.stencil = stencil;
      setting.cut.grid = setting.cut.brick = {across, 1, size / across};
      // Both ends agree on the parts, but not on their packing.
      setting.cut.pack = {Pack::direct, Pack::rows, rank % 2 == 0 ? pack : Pack::rows};
      const Box<3> block = block_at(setting.problem, setting.cut.grid,
                                    coords_of(rank, setting.cut.grid, setting.cut.brick));
      Fields fields(setting.problem, padded(setting.problem, block.extents()), 0);
      Result<Halo> made = Halo::make(MPI_COMM_WORLD, setting.problem, setting.cut, fields.views());
      ASSERT_TRUE(made.has_value()) << made.error();
      Halo halo = std::move(made).value();
      for (const bool is_split : {false, true}) {
        fill(setting.problem, block, fields);
        if (is_split) {
          halo.begin();
          halo.finish();
        } else {
          halo.exchange();
        }
        EXPECT_EQ(wrong_cells(setting.problem, block, fields), 0) << text_of(setting, rank);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Halos, test::all_shapes(), test::name_of);

TEST(Sides, AreCutIntoPartsWhereRunsAreShort) {
  Problem problem;
  problem.extents = {256, 256, 256};
  Side side{
      .dimension = 2, .sent = {{1, 1, 1}, {257, 257, 2}}, .ghosts = {{1, 1, 0}, {257, 257, 1}}};
  const std::vector<Side> parts = parts_of(problem, side);
  EXPECT_GT(parts.size(), 4U);
  std::int64_t next = 1;
  for (const Side& part : parts) {
    EXPECT_EQ(part.sent.lo[0], next);
    EXPECT_EQ(part.ghosts.lo[0], next);
    EXPECT_EQ(part.sent.extent(1), 256);
    next += part.sent.extent(0);
  }
  EXPECT_EQ(next, 257);
  side.dimension = 1;
  EXPECT_EQ(parts_of(problem, side).size(), 1U);
  side.dimension = 2;
  problem.halo_width = 8;
  EXPECT_EQ(parts_of(problem, side).size(), 1U);
  problem.halo_width = 1;
  problem.order = MemoryOrder::fortran;
  EXPECT_EQ(parts_of(problem, side).size(), 1U);
}

TEST(Halo, RefusesWhatDoesNotFit) {
  test::run_ranks({.ranks = 2, .workers = 1}, [](int) {
    Problem problem;
    problem.extents = {8, 8, 1};
    Cut cut;
    cut.grid = cut.brick = {2, 1, 1};
    std::vector<double> data(100);
    const auto error = [&](const Extents& extents) {
      const ArrayView view = dense_view(data.data(), extents, 8, MemoryOrder::c);
      return Halo::make(MPI_COMM_WORLD, problem, cut, {&view, 1}).error_or("");
    };
    EXPECT_EQ(error({4, 10, 1}),
              "field 0 has 4 cells in dimension 0; it must be the block with its ghosts, 6");
    cut.grid = cut.brick = {4, 1, 1};
    EXPECT_EQ(error({4, 10, 1}), "the cut needs 4 ranks, the communicator has 2");
    cut.grid = cut.brick = {2, 1, 1};
    problem.halo_width = 5;
    EXPECT_EQ(error({14, 18, 1}),
              "the halo of 5 cells is wider than the smallest block in dimension 0, 4; cut it into "
              "fewer than 2 parts");
    problem.halo_width = 1;
    problem.field_count = 2;
    EXPECT_EQ(error({6, 10, 1}), "1 fields are given, the problem has 2");
  });
}

TEST(Verify, TimesTheFirstCutsAndTellsTheRegret) {
  test::run_ranks({.ranks = 8, .workers = 2}, [](int) {
    Problem problem;
    problem.extents = {16, 16, 16};
    problem.element_bytes = 16;
    const Plan plan = Plan::choose(simple_machine(), problem, 8).value();
    const Result<Verification> verified = verify(MPI_COMM_WORLD, plan, 3, {.seconds = 0.005});
    ASSERT_TRUE(verified.has_value()) << verified.error();
    EXPECT_EQ(verified.value().timed.size(), 3U);
    EXPECT_GE(verified.value().regret, 0);
    EXPECT_NE(verified.value().table(problem).find("regret"), std::string::npos);
  });
}

}  // namespace
}  // namespace sorrel::grid
