#include "loop/team/pace.hpp"

#include <gtest/gtest.h>

namespace sorrel::loop {
namespace {

int one(void* /*argument*/, std::int64_t /*begin*/, std::int64_t /*end*/) {
  return go_on;
}

int another(void* /*argument*/, std::int64_t begin, std::int64_t end) {
  return begin < end ? go_on : 1;
}

TEST(PaceTest, NothingIsKnownOfALoopThatHasNotRun) {
  const Pace pace(1000);
  EXPECT_EQ(pace.worth(one), 0);
}

TEST(PaceTest, IterationsAreWorthAChunkThatTakeSoLongTogether) {
  Pace pace(1000);
  pace.note(one, 20, 200);
  EXPECT_EQ(pace.worth(one), 100);
}

TEST(PaceTest, OneIterationIsAlwaysWorthIt) {
  Pace pace(1000);
  pace.note(one, 1, 50'000);
  EXPECT_EQ(pace.worth(one), 1);
}

TEST(PaceTest, WhatIsCloseToTheLastChunkChangesNothing) {
  Pace pace(1000);
  pace.note(one, 20, 200);
  pace.note(one, 20, 190);
  EXPECT_EQ(pace.worth(one), 100);
  pace.note(one, 20, 100);
  EXPECT_EQ(pace.worth(one), 200);
}

TEST(PaceTest, WhatIsKnownOfOneBodyIsNotToldOfAnother) {
  Pace pace(1000);
  pace.note(one, 20, 200);
  EXPECT_EQ(pace.worth(another), 0);
}

TEST(PaceTest, TimesOfNoCyclesAndIterationsWithoutEndAreTaken) {
  Pace pace(1000);
  pace.note(one, std::int64_t{1} << 60, 0);
  EXPECT_GT(pace.worth(one), 0);
}

}  // namespace
}  // namespace sorrel::loop
