#include "tools/sorrel/common/child_command.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns when the program has printed something, or has ended.
void wait_for_output(ChildCommand& child) {
  while (child.output().empty() && child.progress(seconds(10))) {
  }
}

TEST(ChildCommand, OutputAndErrorsAreApart) {
  ChildCommand child({"sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  EXPECT_TRUE(child.run_to_end(seconds(30)));
  EXPECT_EQ(child.output(), "out\n");
  EXPECT_EQ(child.errors(), "err\n");
  EXPECT_FALSE(child.has_succeeded());
  EXPECT_EQ(child.text_of_end(), "ended with status 3");
}

TEST(ChildCommand, LongOutputDoesNotBlockTheProgram) {
  ChildCommand child({"sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"}, {});
  EXPECT_TRUE(child.run_to_end(seconds(30)));
  EXPECT_EQ(child.output().size(), 1000000U);
  EXPECT_EQ(child.errors().size(), 1000000U);
  EXPECT_TRUE(child.has_succeeded());
}

TEST(ChildCommand, AProgramThatDoesNotEndIsEnded) {
  ChildCommand child({"sh", "-c", "echo begun; exec sleep 1000"}, {});
  wait_for_output(child);
  EXPECT_FALSE(child.run_to_end(milliseconds(300)));
  EXPECT_EQ(child.output(), "begun\n");
  EXPECT_EQ(child.text_of_end(), "ended by signal 15");
  EXPECT_GE(child.seconds(), 0.3);
}

TEST(ChildCommand, AProgramThatIgnoresTheSignalIsKilled) {
  ChildCommand child({"sh", "-c", "trap '' TERM; echo begun; while :; do sleep 0.1; done"}, {});
  wait_for_output(child);
  EXPECT_FALSE(child.run_to_end(milliseconds(300)));
  EXPECT_EQ(child.text_of_end(), "ended by signal 9");
}

TEST(ChildCommand, AProgramThatDoesNotExistIsAnError) {
  ChildCommand child({"/no/such/program"}, {});
  EXPECT_EQ(child.error(), ENOENT);
  EXPECT_FALSE(child.progress(seconds(1)));
  EXPECT_FALSE(child.has_succeeded());
  EXPECT_EQ(child.text_of_end(), "cannot be started: No such file or directory");
}

TEST(ChildCommand, SettingsReachTheProgramOnly) {
  ChildCommand child({"sh", "-c", "echo $SORREL_TEST_SETTING; cat"},
                     {.environment = {"SORREL_TEST_SETTING=a=b"}});
  EXPECT_TRUE(child.run_to_end(seconds(30)));
  EXPECT_EQ(child.output(), "a=b\n");
  EXPECT_EQ(std::getenv("SORREL_TEST_SETTING"), nullptr);
}

TEST(ChildCommand, OutputIsSeenWhileTheProgramRuns) {
  ChildCommand child({"sh", "-c", "echo first; sleep 1000"}, {});
  wait_for_output(child);
  EXPECT_EQ(child.output(), "first\n");
  EXPECT_EQ(kill(child.pid(), 0), 0);
}

TEST(ChildCommand, AProgramLeftBehindDoesNotHoldTheEndUp) {
  ChildCommand child({"sh", "-c", "sleep 20 & echo done"}, {});
  EXPECT_TRUE(child.run_to_end(seconds(15)));
  EXPECT_EQ(child.output(), "done\n");
  EXPECT_LT(child.seconds(), 15);
}

}  // namespace
}  // namespace sorrel::tool
