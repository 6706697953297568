#include "core/parker.hpp"

#include <gtest/gtest.h>

namespace sorrel::core {
namespace {

class ParkerTest : public testing::Test {
 protected:
  std::int32_t asleep_count() { return asleep_count_.load(Order::relaxed); }

  Parker::Count asleep_count_{0};
  Parker::State first_state_{Parker::awake};
  Parker::State second_state_{Parker::awake};
  Parker first_{first_state_, asleep_count_};
  Parker second_{second_state_, asleep_count_};
};

TEST_F(ParkerTest, OneThatIsAwakeCannotBeClaimed) {
  EXPECT_FALSE(first_.claim());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, OnlyOneWakerClaimsASleeper) {
  first_.announce();
  EXPECT_TRUE(first_.is_parked());
  EXPECT_TRUE(first_.claim());
  EXPECT_FALSE(first_.is_parked());
  EXPECT_FALSE(first_.claim());
}

TEST_F(ParkerTest, TheLastToLieDownLearnsThatAllAreAsleep) {
  first_.announce();
  EXPECT_EQ(first_.count_in(), 1);
  second_.announce();
  EXPECT_EQ(second_.count_in(), 2);
}

TEST_F(ParkerTest, WhoeverIsClaimedIsCountedOut) {
  first_.announce();
  first_.count_in();
  EXPECT_TRUE(first_.claim());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, GettingUpUnclaimedLeavesTheCountAlone) {
  first_.announce();
  first_.get_up();
  EXPECT_FALSE(first_.is_parked());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, GettingUpMakesGoodForAClaimThatCountedOutTooMuch) {
  first_.announce();
  EXPECT_TRUE(first_.claim());
  EXPECT_EQ(asleep_count(), -1) << "short, never too high";
  first_.get_up();
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, AClaimBetweenTheSecondLookAndTheCountIsNotForgotten) {
  first_.announce();
  EXPECT_TRUE(first_.claim());
  EXPECT_EQ(first_.count_in(), 0);
  EXPECT_FALSE(first_.is_parked());
}

}  // namespace
}  // namespace sorrel::core
