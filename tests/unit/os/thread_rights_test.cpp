// What a thread may do, and what has changed.
#include "os/thread_rights.hpp"

#include <gtest/gtest.h>
#include <string>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace sorrel::os {
namespace {

TEST(ThreadRightsTest, AreEqualWhileNothingChanges) {
  const ThreadRights before = ThreadRights::of(gettid());
  EXPECT_EQ(before.difference(ThreadRights::of(gettid())), "");
  std::string of_another;
  std::thread([&] { of_another = before.difference(ThreadRights::of(gettid())); }).join();
  EXPECT_EQ(of_another, "");
}

TEST(ThreadRightsTest, AChangeOfAThreadIsNamed) {
  std::string personality_change;
  std::string rights_change;
  std::string main_change;
  const pid_t main_thread = gettid();
  const ThreadRights of_main = ThreadRights::of(main_thread);
  std::thread([&] {
    const ThreadRights before = ThreadRights::of(gettid());
    const auto old = static_cast<unsigned long>(personality(0xffffffff));
    personality(old | ADDR_COMPAT_LAYOUT);
    personality_change = before.difference(ThreadRights::of(gettid()));
    personality(old);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    rights_change = before.difference(ThreadRights::of(gettid()));
    main_change = of_main.difference(ThreadRights::of(main_thread));
  }).join();
  EXPECT_EQ(personality_change, "the personality");
  EXPECT_EQ(rights_change, "the rights of programs that it executes (no_new_privs)");
  EXPECT_EQ(main_change, "") << "those of another thread";
}

TEST(ThreadRightsTest, OfAThreadThatHasEndedNothingDiffers) {
  // No thread has this number.
  EXPECT_EQ(ThreadRights::of(gettid()).difference(ThreadRights::of(-1)), "");
}

}  // namespace
}  // namespace sorrel::os
