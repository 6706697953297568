#include "loop/team/slot.hpp"

#include <gtest/gtest.h>

namespace sorrel::loop {
namespace {

using Slot = BasicSlot<core::StdSync>;

Work work_of(std::int32_t chunk_count) {
  const SplitOptions split{.schedule = Schedule::dynamic, .grain = 1, .width = 4};
  return {nullptr, nullptr, ChunkPlan({0, chunk_count}, split)};
}

TEST(SlotTest, IsClosedAtFirst) {
  Slot slot;
  EXPECT_FALSE(slot.poll().is_joinable());
  EXPECT_FALSE(slot.join().is_joinable());
  EXPECT_TRUE(slot.is_over());
}

TEST(SlotTest, TheCallerTakesTheLowestChunksAndHelpersTheHighest) {
  Slot slot;
  slot.open(work_of(5), 3);
  const auto first = slot.join();
  ASSERT_TRUE(first.is_joinable());
  EXPECT_EQ(slot.chunk_of_helper(first), 4);
  const auto second = slot.join();
  ASSERT_TRUE(second.is_joinable());
  EXPECT_EQ(slot.chunk_of_helper(second), 3);
  EXPECT_EQ(slot.take_as_caller().left(), 2);  // chunk 1; chunk 0 was the caller's from the start
  const auto third = slot.take_as_helper();
  EXPECT_EQ(third.left(), 1);
  EXPECT_EQ(slot.chunk_of_helper(third), 2);
  EXPECT_EQ(slot.take_as_caller().left(), 0);
  EXPECT_EQ(slot.take_as_helper().left(), -1);
}

TEST(SlotTest, NoHelperJoinsWhenNoChunkIsLeft) {
  Slot slot;
  slot.open(work_of(2), 3);
  const auto before = slot.take_as_caller();
  EXPECT_EQ(before.left(), 1);
  EXPECT_EQ(before.inside(), 0U);
  EXPECT_FALSE(slot.join().is_joinable());
  EXPECT_TRUE(slot.is_over());
}

TEST(SlotTest, NoHelperJoinsWithoutRoomAndLeavingMakesRoom) {
  Slot slot;
  slot.open(work_of(9), 1);
  ASSERT_TRUE(slot.join().is_joinable());
  EXPECT_FALSE(slot.join().is_joinable());
  EXPECT_FALSE(slot.leave());
  EXPECT_TRUE(slot.join().is_joinable());
}

TEST(SlotTest, TheLastToLeaveMustWakeASleepingCaller) {
  Slot slot;
  slot.open(work_of(3), 2);
  ASSERT_TRUE(slot.join().is_joinable());
  ASSERT_TRUE(slot.join().is_joinable());
  EXPECT_EQ(slot.take_as_caller().inside(), 2U);
  EXPECT_FALSE(slot.announce_sleep());
  EXPECT_FALSE(slot.leave());
  EXPECT_TRUE(slot.leave());
  EXPECT_TRUE(slot.is_over());
}

TEST(SlotTest, CancellingLeavesNothingToTakeAndHelpersInsideLeave) {
  Slot slot;
  slot.open(work_of(100), 2);
  ASSERT_TRUE(slot.join().is_joinable());
  slot.cancel();
  EXPECT_FALSE(slot.join().is_joinable());
  EXPECT_EQ(slot.take_as_caller().inside(), 1U);
  EXPECT_FALSE(slot.is_over());
  EXPECT_FALSE(slot.leave());
  EXPECT_TRUE(slot.is_over());
}

TEST(SlotTest, LateTakersDoNoHarmToTheNextLoop) {
  Slot slot;
  for (int loop = 0; loop < 20; ++loop) {
    slot.open(work_of(2), Slot::helpers_max);
    for (std::uint32_t i = 0; i < Slot::helpers_max; ++i)
      EXPECT_EQ(slot.take_as_helper().left(), 1 - static_cast<std::int32_t>(i));
    EXPECT_EQ(slot.poll().room(), Slot::helpers_max);
    EXPECT_EQ(slot.poll().inside(), 0U);
  }
}

}  // namespace
}  // namespace sorrel::loop
