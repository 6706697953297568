#include "tools/sorrel/run/daemon_waker.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::tool {
namespace {

/// A daemon that sleeps `count` times, each time for a minute; its status is 0 if each sleep was
/// interrupted.
pid_t start_daemon(int count) {
  const pid_t daemon = fork();
  if (daemon != 0) return daemon;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  struct sigaction woken{};
  woken.sa_handler = [](int) {};
  sigaction(SIGCHLD, &woken, nullptr);
  for (int i = 0; i < count; ++i) {
    // sleep() returns 0 only if it was not interrupted.
    if (sleep(60) == 0) _exit(1);
  }
  _exit(0);
}

TEST(DaemonWakerTest, WakesUntilTheDaemonHasEnded) {
  const pid_t daemon = start_daemon(3);
  const DaemonWaker waker(daemon);
  waker.begin();
  int status = -1;
  ASSERT_EQ(waitpid(daemon, &status, 0), daemon);
  EXPECT_EQ(status, 0);
  // The process that woke the daemon ends by itself.
  EXPECT_GT(waitpid(-1, &status, 0), 0);
  EXPECT_EQ(status, 0);
}

TEST(DaemonWakerTest, WakesNobodyWhenTheDaemonIsGone) {
  const pid_t daemon = start_daemon(0);
  const DaemonWaker waker(daemon);
  waitpid(daemon, nullptr, 0);
  waker.begin();
  int status = -1;
  EXPECT_GT(waitpid(-1, &status, 0), 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sorrel::tool
