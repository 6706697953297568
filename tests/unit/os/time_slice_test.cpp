#include "os/time_slice.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <thread>

#include "os/sched_stat.hpp"

namespace sorrel::os {
namespace {

constexpr std::int64_t ms_ns = 1'000'000;

/// On a separate thread, whose settings end with it.
template <class Test>
void on_a_thread(Test test) {
  std::thread(test).join();
}

TEST(TimeSliceTest, IsWhatWasAskedForAndNothingElseHasChanged) {
  on_a_thread([] {
    const int self = thread_number();
    const auto before = time_slice(self);
    if (!before) GTEST_SKIP() << "this kernel does not report time slices";
    const int policy = sched_getscheduler(0);
    const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(self));
    ASSERT_TRUE(set_time_slice(self, 20 * ms_ns));
    EXPECT_EQ(time_slice(self), 20 * ms_ns);
    EXPECT_EQ(sched_getscheduler(0), policy);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(self)), nice);
    ASSERT_TRUE(set_time_slice(self, *before));
    EXPECT_EQ(time_slice(self), before);
  });
}

TEST(TimeSliceTest, OfAThreadThatIsNotThereIsNothing) {
  // No thread has the largest number.
  EXPECT_EQ(time_slice(1 << 30), std::nullopt);
  EXPECT_FALSE(set_time_slice(1 << 30, 20 * ms_ns));
}

TEST(TimeSliceTest, OfAnIdleThreadIsLeftAlone) {
  on_a_thread([] {
    const sched_param none{};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) GTEST_SKIP() << "refused";
    EXPECT_FALSE(set_time_slice(thread_number(), 20 * ms_ns));
  });
}

}  // namespace
}  // namespace sorrel::os
