#include "mpi/rma/lock_queue.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel::mpi {
namespace {

class FiveWaiters : public testing::Test {
 protected:
  void wait(int i, bool is_exclusive) {
    LockWaiter& waiter = waiters_.at(static_cast<std::size_t>(i));
    waiter.is_exclusive = is_exclusive;
    waiter.origin = i;
    ASSERT_FALSE(queue_.try_acquire(is_exclusive, i));
    queue_.add(waiter);
  }

  /// The origins that get the lock when one holder leaves.
  std::vector<int> release() {
    std::vector<int> granted;
    for (LockWaiter* waiter = queue_.release(); waiter != nullptr; waiter = waiter->next)
      granted.push_back(waiter->origin);
    return granted;
  }

  LockQueue queue_;
  std::array<LockWaiter, 5> waiters_;
};

using Granted = std::vector<int>;

TEST_F(FiveWaiters, SharedHoldersHoldTogetherAndAnExclusiveOneAlone) {
  EXPECT_TRUE(queue_.try_acquire(false, 10));
  EXPECT_TRUE(queue_.try_acquire(false, 11));
  EXPECT_FALSE(queue_.try_acquire(true, 12));
  EXPECT_EQ(release(), Granted());
  EXPECT_FALSE(queue_.try_acquire(true, 12));
  EXPECT_EQ(release(), Granted());
  EXPECT_TRUE(queue_.try_acquire(true, 12));
  EXPECT_FALSE(queue_.try_acquire(false, 13));
  EXPECT_FALSE(queue_.try_acquire(true, 13));
}

TEST_F(FiveWaiters, GetTheLockInTheOrderInWhichTheyCame) {
  ASSERT_TRUE(queue_.try_acquire(true, 10));
  wait(0, false);
  wait(1, false);
  wait(2, true);
  wait(3, true);
  wait(4, false);
  EXPECT_EQ(waiters_[0].blocked_by, 10);
  EXPECT_EQ(release(), Granted({0, 1}));
  EXPECT_EQ(release(), Granted());
  EXPECT_EQ(release(), Granted({2}));
  EXPECT_EQ(release(), Granted({3}));
  EXPECT_EQ(release(), Granted({4}));
  EXPECT_TRUE(queue_.is_held());
  EXPECT_EQ(release(), Granted());
  EXPECT_FALSE(queue_.is_held());
}

TEST_F(FiveWaiters, ASharedRequestDoesNotOvertakeAnExclusiveOne) {
  ASSERT_TRUE(queue_.try_acquire(false, 10));
  wait(0, true);
  wait(1, false);
  EXPECT_EQ(release(), Granted({0}));
  EXPECT_EQ(release(), Granted({1}));
}

}  // namespace
}  // namespace sorrel::mpi
