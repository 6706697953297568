#include "arch/cpu.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace sorrel::arch {
namespace {

thread_local int thread_local_variable;

TEST(CpuTest, TheCycleCounterDoesNotRunBackwards) {
  std::uint64_t before = cycles();
  for (int i = 0; i < 1000; ++i) {
    pause();
    const std::uint64_t now = cycles();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(CpuTest, EachThreadHasItsOwnThreadPointer) {
  const std::uintptr_t here = thread_pointer();
  std::uintptr_t there = 0;
  std::thread([&there] { there = thread_pointer(); }).join();
  EXPECT_NE(there, 0U);
  EXPECT_NE(here, there);
}

TEST(CpuTest, ThreadLocalsLieAtAFixedDistanceFromTheThreadPointer) {
  const auto distance = [] {
    return reinterpret_cast<std::uintptr_t>(&thread_local_variable) - thread_pointer();
  };
  std::uintptr_t there = 0;
  std::thread([&] { there = distance(); }).join();
  EXPECT_EQ(distance(), there);
}

}  // namespace
}  // namespace sorrel::arch
