#include "runtime/end/stack_fault.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

class StackFaultTest : public ::testing::Test {
 protected:
  StackFaultTest() : stacks_(3, std::size_t{1} << 20) {}

  void SetUp() override { ASSERT_TRUE(stacks_.is_valid()); }

  /// An address in or below the middle stack, which is the running rank's.
  [[nodiscard]] const void* at(std::ptrdiff_t distance) const {
    return static_cast<const std::byte*>(stacks_.bottom(1)) + distance;
  }

  [[nodiscard]] StackFault fault_at(std::ptrdiff_t address, std::ptrdiff_t pointer) const {
    return classify_fault(stacks_, 1, {.address = at(address), .stack_pointer = at(pointer)});
  }

  os::StackSlab stacks_;
  static constexpr std::ptrdiff_t stack = std::ptrdiff_t{1} << 20;
};

TEST_F(StackFaultTest, ACallAtTheEndOfTheStackIsAnOverflow) {
  EXPECT_EQ(fault_at(-8, 0), StackFault::overflow);
  EXPECT_EQ(fault_at(-100, 64), StackFault::overflow);
}

TEST_F(StackFaultTest, AFrameThatReachesIntoTheGuardIsAnOverflow) {
  EXPECT_EQ(fault_at(-70'000, -70'000), StackFault::overflow);
  EXPECT_EQ(fault_at(-10, -900'000), StackFault::overflow);
}

TEST_F(StackFaultTest, AFrameThatReachesIntoAnotherStackIsAnOverflowOfTheRunningRanks) {
  EXPECT_EQ(fault_at(-stack - 500, -stack - 4000), StackFault::overflow);
  const auto pitch = static_cast<std::ptrdiff_t>(os::StackSlab::pitch_of(stack));
  EXPECT_EQ(fault_at(-pitch - 100, -pitch - 5000), StackFault::overflow);
  // Whatever the faulting address is.
  EXPECT_EQ(classify_fault(stacks_, 1, {.address = nullptr, .stack_pointer = at(-stack - 4000)}),
            StackFault::overflow);
}

TEST_F(StackFaultTest, AFrameThatReachesBelowAllStacksIsAnOverflow) {
  const Fault fault{
      .address = at(-200 * stack), .stack_pointer = at(-200 * stack), .is_pointer_mapped = false};
  EXPECT_EQ(classify_fault(stacks_, 1, fault), StackFault::overflow);
}

TEST_F(StackFaultTest, AStackOfTheProgramsOwnIsNone) {
  EXPECT_EQ(classify_fault(stacks_, 1, {.address = nullptr, .stack_pointer = &stacks_}),
            StackFault::none);
}

TEST_F(StackFaultTest, AReadAboveAFrameIsAWildPointer) {
  const auto top = static_cast<std::ptrdiff_t>(stacks_.stack_bytes());
  EXPECT_EQ(fault_at(top + 8192 - 500, top - 500), StackFault::wild_into_guard);
}

TEST_F(StackFaultTest, AWildPointerIntoTheOwnGuardIsNoOverflow) {
  EXPECT_EQ(fault_at(-5000, stack - 2000), StackFault::wild_into_guard);
}

TEST_F(StackFaultTest, AnAddressElsewhereIsNoMatterOfStacks) {
  EXPECT_EQ(classify_fault(stacks_, 1, {.address = nullptr, .stack_pointer = at(stack / 2)}),
            StackFault::none);
  EXPECT_EQ(classify_fault(stacks_, 1, {.address = nullptr, .stack_pointer = at(10)}),
            StackFault::none);
}

TEST_F(StackFaultTest, TellsWhatIsLeft) {
  EXPECT_EQ(bytes_left(stacks_, 1, at(5000)), 5000U);
  EXPECT_EQ(bytes_left(stacks_, 1, at(-5000)), 0U);
}

}  // namespace
}  // namespace sorrel::runtime
