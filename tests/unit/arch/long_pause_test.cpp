#include "arch/long_pause.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace sorrel::arch {
namespace {

/// Whether the kernel names this feature of the processor.
bool has_flag(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string word; file >> word;) {
    if (word == flag) return true;
  }
  return false;
}

TEST(LongPauseTest, ItsKindIsThatOfTheProcessor) {
  const LongPause expected = has_flag("waitpkg")  ? LongPause::tpause
                             : has_flag("mwaitx") ? LongPause::mwaitx
                                                  : LongPause::spin_hint;
  EXPECT_EQ(long_pause_kind(), expected);
}

TEST(LongPauseTest, EndsByItself) {
  using Clock = std::chrono::steady_clock;
  Clock::duration shortest = std::chrono::seconds(1);
  for (int i = 0; i < 1000; ++i) {
    const Clock::time_point began = Clock::now();
    long_pause();
    shortest = std::min(shortest, Clock::now() - began);
  }
  EXPECT_LT(shortest, std::chrono::microseconds(20));
}

}  // namespace
}  // namespace sorrel::arch
