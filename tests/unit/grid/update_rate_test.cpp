#include "grid/plan/update_rate.hpp"

#include <gtest/gtest.h>

#include "grid/plan/cost_model.hpp"
#include "unit/grid/simple_machine.hpp"

namespace sorrel::grid {
namespace {

TEST(Curve, IsLinearInTheLogarithmAndFlatBeyondItsEnds) {
  Curve curve;
  curve.add(16, 3);  // in any order
  curve.add(4, 1);
  EXPECT_DOUBLE_EQ(curve.at(1), 1);
  EXPECT_DOUBLE_EQ(curve.at(4), 1);
  EXPECT_DOUBLE_EQ(curve.at(8), 2);
  EXPECT_DOUBLE_EQ(curve.at(16), 3);
  EXPECT_DOUBLE_EQ(curve.at(100), 3);
}

TEST(UpdateRate, ReachesMemoryAnOctaveBeyondTheLastCache) {
  Machine machine = simple_machine();
  machine.memory = {{.size_bytes = 1024, .bytes_per_second = 1e9},
                    {.size_bytes = 0, .bytes_per_second = 1e8}};
  const UpdateRate rate(machine);
  EXPECT_DOUBLE_EQ(rate.seconds_per_byte(1024), 1e-9);
  EXPECT_DOUBLE_EQ(rate.seconds_per_byte(2048), 1e-8);
  EXPECT_DOUBLE_EQ(rate.seconds_per_byte(1 << 20), 1e-8);
  EXPECT_GT(rate.seconds_per_byte(1500), 1e-9);
  EXPECT_LT(rate.seconds_per_byte(1500), 1e-8);
}

TEST(UpdateRate, PlanesDoNotMatterUnlessTheMachineSaysSo) {
  EXPECT_EQ(UpdateRate(simple_machine()).plane_slowdown(1 << 30, 1 << 30), 1);
}

TEST(UpdateRate, InterpolatesBetweenPlanesAndBetweenSets) {
  Machine machine = simple_machine();
  machine.planes = {{.plane_bytes = 1024, .set_bytes = 1 << 20, .slowdown = 1},
                    {.plane_bytes = 4096, .set_bytes = 1 << 20, .slowdown = 2},
                    {.plane_bytes = 1024, .set_bytes = 1 << 22, .slowdown = 3},
                    {.plane_bytes = 4096, .set_bytes = 1 << 22, .slowdown = 4}};
  const UpdateRate rate(machine);
  EXPECT_DOUBLE_EQ(rate.plane_slowdown(2048, 1 << 20), 1.5);
  EXPECT_DOUBLE_EQ(rate.plane_slowdown(2048, 1 << 21), 2.5);
  EXPECT_DOUBLE_EQ(rate.plane_slowdown(1, 1 << 30), 3);
}

class PlanesInTheModel : public testing::Test {
 protected:
  // Planes of 16^3 cells with ghosts take 18 * 18 * 8 bytes.
  [[nodiscard]] double compute_s(Extents extents, MemoryOrder order) const {
    Machine machine = simple_machine();
    machine.planes = {{.plane_bytes = 18 * 18 * 8, .set_bytes = 1, .slowdown = 1},
                      {.plane_bytes = 18 * 34 * 8, .set_bytes = 1, .slowdown = 2}};
    Problem problem;
    problem.extents = extents;
    problem.order = order;
    problem.flops_per_cell = 0;
    problem.bytes_per_cell = 1;
    return CostModel(machine, problem, 1).without_overlap({1, 1, 1}, {1, 1, 1}).time.compute_s;
  }
};

TEST_F(PlanesInTheModel, AreWithoutTheOutermostDimension) {
  const double cells = 16 * 16 * 32;
  EXPECT_NEAR(compute_s({32, 16, 16}, MemoryOrder::c), cells * 1e-9, 1e-12);
  EXPECT_NEAR(compute_s({16, 32, 16}, MemoryOrder::c), 2 * cells * 1e-9, 1e-12);
  EXPECT_NEAR(compute_s({16, 16, 32}, MemoryOrder::fortran), cells * 1e-9, 1e-12);
}

TEST_F(PlanesInTheModel, AreRowsWhereTheGridHasTwoDimensions) {
  EXPECT_NEAR(compute_s({1024, 322, 1}, MemoryOrder::c), 1024 * 322 * 1e-9, 1e-12);
  EXPECT_NEAR(compute_s({1024, 610, 1}, MemoryOrder::c), 2 * 1024 * 610 * 1e-9, 1e-12);
}

TEST(Rows, OfATwoDimensionalGridAreAlongItsSecondDimension) {
  Machine machine = simple_machine();
  machine.row_start_s = 1;
  Problem problem;
  problem.extents = {32, 64, 1};
  EXPECT_NEAR(CostModel(machine, problem, 1).without_overlap({1, 1, 1}, {1, 1, 1}).time.compute_s,
              32, 0.01);
}

TEST(Ghosts, TakeTheirShareOfMemoryAndOfNoFlops) {
  Machine machine = simple_machine();
  machine.ghost_share = 0.5;
  Problem problem;
  problem.extents = {8, 8, 8};
  problem.flops_per_cell = 1;
  problem.bytes_per_cell = 2;
  const auto compute_s = [&] {
    return CostModel(machine, problem, 1).without_overlap({1, 1, 1}, {1, 1, 1}).time.compute_s;
  };
  EXPECT_NEAR(compute_s(), 2 * (512 + 0.5 * (1000 - 512)) * 1e-9, 1e-15);
  problem.flops_per_cell = 4;
  EXPECT_NEAR(compute_s(), 4 * 512 * 1e-9, 1e-15);
}

}  // namespace
}  // namespace sorrel::grid
