#include "loop/team/grain_tuner.hpp"

#include <gtest/gtest.h>

namespace sorrel::loop {
namespace {

int one(void* /*argument*/, std::int64_t /*begin*/, std::int64_t /*end*/) {
  return go_on;
}

int another(void* /*argument*/, std::int64_t begin, std::int64_t end) {
  return begin < end ? go_on : 1;
}

TEST(GrainTunerTest, NothingIsKnownOfALoopThatHasNotRun) {
  const GrainTuner grain_tuner(1000);
  EXPECT_EQ(grain_tuner.tuned_grain(one), 0);
}

TEST(GrainTunerTest, AChunkHasTheIterationsOfTheMinimumDuration) {
  GrainTuner grain_tuner(1000);
  grain_tuner.record(one, 20, 200);
  EXPECT_EQ(grain_tuner.tuned_grain(one), 100);
}

TEST(GrainTunerTest, OneIterationIsAlwaysEnough) {
  GrainTuner grain_tuner(1000);
  grain_tuner.record(one, 1, 50'000);
  EXPECT_EQ(grain_tuner.tuned_grain(one), 1);
}

TEST(GrainTunerTest, WhatIsCloseToTheLastChunkChangesNothing) {
  GrainTuner grain_tuner(1000);
  grain_tuner.record(one, 20, 200);
  grain_tuner.record(one, 20, 190);
  EXPECT_EQ(grain_tuner.tuned_grain(one), 100);
  grain_tuner.record(one, 20, 100);
  EXPECT_EQ(grain_tuner.tuned_grain(one), 200);
}

TEST(GrainTunerTest, EstimatesOfOneBodyAreNotUsedForAnother) {
  GrainTuner grain_tuner(1000);
  grain_tuner.record(one, 20, 200);
  EXPECT_EQ(grain_tuner.tuned_grain(another), 0);
}

TEST(GrainTunerTest, TimesOfNoCyclesAndIterationsWithoutEndAreTaken) {
  GrainTuner grain_tuner(1000);
  grain_tuner.record(one, std::int64_t{1} << 60, 0);
  EXPECT_GT(grain_tuner.tuned_grain(one), 0);
}

}  // namespace
}  // namespace sorrel::loop
