#include "runtime/checkpoint/rank_record.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

constexpr os::MemoryRange stack{.begin = 0x10000, .end = 0x20000};

RestoredRank restored(std::uintptr_t context, std::uintptr_t outcome) {
  return {.context = context, .outcome = outcome, .objects = {}, .note = {}};
}

TEST(RestoredRank, GoesOnWithinItsStack) {
  restored(0x18000, 0x18400).check_invariants(stack);
  restored(0x10000, 0x1fffc).check_invariants(stack);
  for (const std::uintptr_t context : {0x0UL, 0xfff8UL, 0x20000UL})
    EXPECT_DEATH(restored(context, 0x18400).check_invariants(stack), "a rank goes on at")
        << context;
}

TEST(RestoredRank, FindsItsResultAboveItsFrames) {
  for (const std::uintptr_t outcome : {0x0UL, 0x17000UL, 0x18002UL, 0x1fffeUL, 0x20000UL})
    EXPECT_DEATH(restored(0x18000, outcome).check_invariants(stack), "finds the result at")
        << outcome;
}

}  // namespace
}  // namespace sorrel::runtime
