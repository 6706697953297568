#include "os/own_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

/// The answer of a child that the caller forks, which records itself first.
bool is_child_forked() {
  const pid_t child = fork();
  if (child == 0) {
    record_own_process();
    _exit(is_forked_child() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(OwnProcess, IsTheFirstThatIsRecorded) {
  EXPECT_FALSE(is_forked_child());
  EXPECT_FALSE(is_child_forked()) << "nothing was recorded before the fork";
  record_own_process();
  EXPECT_FALSE(is_forked_child());
  EXPECT_TRUE(is_child_forked());
  EXPECT_FALSE(is_forked_child());
}

}  // namespace
}  // namespace sorrel::os
