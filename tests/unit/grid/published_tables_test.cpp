// Compares the model with published results: Prieto, Llorente, Tirado, "A Review of Regular Domain
// Partitioning", 2000. A cube of 256^3 cells of double complex data, two doubles each.
// src/grid/plan/README.md lists what the model does not reproduce.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {
namespace {

Plan plan_of(const std::string& machine_name, int rank_count, std::int64_t n = 256) {
  const Machine machine =
      load_machine(std::string(SORREL_MACHINES "/") + machine_name + ".json").value();
  Problem problem;
  problem.extents = {n, n, n};
  problem.element_bytes = 16;
  problem.flops_per_cell = 14;
  problem.bytes_per_cell = 48;
  return Plan::choose(machine, problem, rank_count).value();
}

int cut_count(const ProcessGrid& grid) {
  return static_cast<int>(std::count_if(grid.begin(), grid.end(), [](int n) { return n > 1; }));
}

// Without overlap, like the published comparison of cuts.
template <class Condition>
double best_step_s(const Plan& plan, Condition&& condition) {
  for (const Cut& cut : plan.cuts())
    if (cut.overlap.kind == Overlap::Kind::none && condition(cut.grid)) return cut.time.step_s();
  return 0;
}

double step_of_grid(const Plan& plan, const ProcessGrid& grid) {
  return best_step_s(plan, [&](const ProcessGrid& other) { return other == grid; });
}

double step_of_cut(const Plan& plan, int count) {
  return best_step_s(plan, [&](const ProcessGrid& grid) { return cut_count(grid) == count; });
}

double percent_slower(double value, double base) {
  return 100 * (value / base - 1);
}

class PublishedTables : public testing::TestWithParam<const char*> {};

TEST_P(PublishedTables, CuttingXIsBestAndCuttingZIsWorst) {
  for (const int rank_count : {4, 8, 16, 32}) {
    const Plan plan = plan_of(GetParam(), rank_count);
    const double x = step_of_grid(plan, {rank_count, 1, 1});
    const double y = step_of_grid(plan, {1, rank_count, 1});
    const double z = step_of_grid(plan, {1, 1, rank_count});
    EXPECT_LT(x, y) << rank_count;
    EXPECT_LT(y, z) << rank_count;
  }
}

TEST_P(PublishedTables, TwoDimensionsAreBestOnThirtyTwoProcessors) {
  EXPECT_EQ(cut_count(plan_of(GetParam(), 32).grid()), 2);
}

TEST_P(PublishedTables, OverlapDoesNotPay) {
  for (const int rank_count : {16, 32})
    EXPECT_EQ(plan_of(GetParam(), rank_count).overlap().kind, Overlap::Kind::none) << rank_count;
}

INSTANTIATE_TEST_SUITE_P(T3eAndOrigin,
                         PublishedTables,
                         testing::Values("t3e-900-buffered", "t3e-900-synchronous", "origin2000"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(PublishedFigures, ThreeDimensionsAreNeverChosen) {
  EXPECT_LT(cut_count(plan_of("t3e-900-buffered", 16).grid()), 3);
  EXPECT_LT(cut_count(plan_of("t3e-900-buffered", 32).grid()), 3);
  EXPECT_LT(cut_count(plan_of("origin2000", 32).grid()), 3);
}

TEST(PublishedFigures, T3eCuttingZTakesTwiceAsLongAsCuttingX) {
  // Published: 2.0 buffered, 1.6 synchronous.
  const auto ratio = [](const char* name) {
    const Plan plan = plan_of(name, 16);
    return step_of_grid(plan, {1, 1, 16}) / step_of_grid(plan, {16, 1, 1});
  };
  EXPECT_GE(ratio("t3e-900-buffered"), 1.5);
  EXPECT_LE(ratio("t3e-900-buffered"), 2.5);
  EXPECT_LT(ratio("t3e-900-synchronous"), ratio("t3e-900-buffered"));
}

TEST(PublishedFigures, ThreeDimensionsLoseAsMuchAsPublished) {
  // Published: 7 % on 16 processors of the T3E, 8 % on 32 of the Origin.
  const Plan t3e = plan_of("t3e-900-buffered", 16);
  const double t3e_loss = percent_slower(step_of_cut(t3e, 3), t3e.time().step_s());
  EXPECT_GE(t3e_loss, 2);
  EXPECT_LE(t3e_loss, 9);
  const Plan origin = plan_of("origin2000", 32);
  const double origin_loss = percent_slower(step_of_cut(origin, 3), origin.time().step_s());
  EXPECT_GE(origin_loss, 5);
  EXPECT_LE(origin_loss, 11);
}

TEST(PublishedFigures, OneDimensionLosesMoreThanThreeOnThirtyTwoProcessors) {
  // Published: 15 % and 5 % on the T3E, 22 % and 8 % on the Origin.
  for (const char* name : {"t3e-900-buffered", "origin2000"}) {
    const Plan plan = plan_of(name, 32);
    EXPECT_GT(step_of_cut(plan, 1), step_of_cut(plan, 3)) << name;
  }
}

TEST(PublishedFigures, OverlapPaysOnTheSp2AndTwoDimensionsAreBestWithIt) {
  for (const std::int64_t n : {128, 256}) {
    const Plan plan = plan_of("sp2", 16, n);
    EXPECT_NE(plan.overlap().kind, Overlap::Kind::none) << n;
    EXPECT_EQ(cut_count(plan.grid()), 2) << n;
  }
}

}  // namespace
}  // namespace sorrel::grid
