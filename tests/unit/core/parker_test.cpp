#include "core/parker.hpp"

#include <gtest/gtest.h>

namespace sorrel::core {
namespace {

class ParkerTest : public testing::Test {
 protected:
  std::int32_t asleep_count() { return asleep_count_.load(Order::relaxed); }

  Parker::Count asleep_count_{0};
  Parker::State first_state_;
  Parker::State second_state_;
  Parker first_{first_state_, asleep_count_};
  Parker second_{second_state_, asleep_count_};
};

TEST_F(ParkerTest, OneThatIsAwakeCannotBeClaimed) {
  EXPECT_FALSE(first_.try_unpark());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, OnlyOneWakerClaimsASleeper) {
  first_.prepare_park();
  EXPECT_TRUE(first_.is_parked());
  EXPECT_TRUE(first_.try_unpark());
  EXPECT_FALSE(first_.is_parked());
  EXPECT_FALSE(first_.try_unpark());
}

TEST_F(ParkerTest, TheLastToLieDownLearnsThatAllAreAsleep) {
  first_.prepare_park();
  EXPECT_EQ(first_.mark_idle(), 1);
  second_.prepare_park();
  EXPECT_EQ(second_.mark_idle(), 2);
}

TEST_F(ParkerTest, WhoeverIsClaimedIsCountedOut) {
  first_.prepare_park();
  first_.mark_idle();
  EXPECT_TRUE(first_.try_unpark());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, GettingUpUnclaimedLeavesTheCountAlone) {
  first_.prepare_park();
  first_.cancel_park();
  EXPECT_FALSE(first_.is_parked());
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, GettingUpMakesGoodForAClaimThatCountedOutTooMuch) {
  first_.prepare_park();
  EXPECT_TRUE(first_.try_unpark());
  EXPECT_EQ(asleep_count(), -1) << "short, never too high";
  first_.cancel_park();
  EXPECT_EQ(asleep_count(), 0);
}

TEST_F(ParkerTest, AClaimBetweenTheSecondLookAndTheCountIsNotForgotten) {
  first_.prepare_park();
  EXPECT_TRUE(first_.try_unpark());
  EXPECT_EQ(first_.mark_idle(), 0);
  EXPECT_FALSE(first_.is_parked());
}

}  // namespace
}  // namespace sorrel::core
