#include "os/log_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

class LogFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string log() const { return folder + "/log"; }

  [[nodiscard]] std::string buffer() const { return folder + "/buffer"; }

  /// As a reader finds it, whatever has happened to the writer.
  [[nodiscard]] std::string text() const {
    std::ifstream file(log(), std::ios::binary);
    std::string found{std::istreambuf_iterator<char>(file), {}};
    LogRest rest;
    if (!LogRest::read(buffer(), rest)) return found;
    EXPECT_LE(rest.begin, found.size());
    found.resize(rest.begin);
    return found.append(reinterpret_cast<const char*>(rest.bytes.data()), rest.bytes.size());
  }

  const TemporaryFolder temporary;
  const std::string folder = temporary.path();
};

/// Writes the numbers from `first` on, four digits each, until the buffer is full.
std::size_t fill(LogFile& file, int first, int count) {
  std::size_t used = 0;
  for (int i = 0; i < count; ++i) {
    std::snprintf(reinterpret_cast<char*>(file.buffer()) + used, 5, "%04d", first + i);
    used += 4;
    file.set_filled(used);
  }
  return used;
}

TEST_F(LogFileTest, AFinishedLogIsOneFile) {
  LogFile file;
  ASSERT_EQ(file.create(log(), buffer(), 4096), 0);
  fill(file, 0, 3);
  EXPECT_EQ(file.append(), 0);
  fill(file, 3, 2);
  EXPECT_EQ(text(), "00000001000200030004");
  file.finish();
  EXPECT_FALSE(std::filesystem::exists(buffer()));
  EXPECT_EQ(text(), "00000001000200030004");
}

TEST_F(LogFileTest, WhatWasWrittenBeforeAKillIsRead) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(log());
    std::filesystem::remove(buffer());
    const pid_t child = fork();
    if (child == 0) {
      LogFile file;
      if (file.create(log(), buffer(), 64) != 0) _exit(1);
      for (int i = 0;; i = (i + 15) % 9000) {
        fill(file, i, 15);
        if (file.append() != 0) _exit(1);
      }
    }
    usleep(static_cast<useconds_t>(1000 + 377 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::string found = text();
    for (std::size_t at = 0; at + 4 <= found.size(); at += 4)
      ASSERT_EQ(std::stoul(found.substr(at, 4)), at / 4 % 9000) << round;
    EXPECT_EQ(found.size() % 4, 0U);
  }
}

TEST_F(LogFileTest, AnErrorKeepsTheBuffer) {
  ASSERT_EQ(symlink("/dev/full", (folder + "/full").c_str()), 0);
  LogFile file;
  // O_EXCL refuses a link, as any file that exists.
  EXPECT_EQ(file.create(folder + "/full", buffer(), 64), EEXIST);
  LogFile other;
  EXPECT_EQ(other.create(folder + "/absent/log", buffer(), 64), ENOENT);
  EXPECT_EQ(other.buffer(), nullptr);
}

TEST_F(LogFileTest, AForeignBufferIsNone) {
  LogRest rest;
  EXPECT_FALSE(LogRest::read(buffer(), rest));
  std::ofstream(buffer()) << "short";
  EXPECT_FALSE(LogRest::read(buffer(), rest));
  std::ofstream(buffer()) << std::string(4096, 'x');
  EXPECT_FALSE(LogRest::read(buffer(), rest));
}

}  // namespace
}  // namespace sorrel::os
