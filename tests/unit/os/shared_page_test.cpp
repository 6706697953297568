#include "os/shared_page.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

/// The state letter of a process in /proc: Z when its first thread has ended.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos ? '?' : text[name_end + 2];
}

/// A page that only this process uses; removed at the end of the test.
class SharedPageTest : public ::testing::Test {
 protected:
  const std::string name_ = "sorrel-test-" + std::to_string(getpid());

  /// The path of the page, found by creating it once.
  std::string path_of_page() {
    munmap(map_shared_page(name_.c_str(), 4096).base, 4096);
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
      if (file.path().filename().string().starts_with(name_ + '-')) return file.path();
    return {};
  }

  /// The error for a page whose file `put` has replaced.
  template <class Put>
  std::string error_in(Put put) {
    const std::string path = path_of_page();
    std::filesystem::remove(path);
    put(path.c_str());
    const SharedPage page = map_shared_page(name_.c_str(), 4096);
    EXPECT_EQ(page.base, nullptr);
    std::filesystem::remove(path);
    const std::string begin = "cannot use " + path + ": ";
    return page.error.starts_with(begin) ? page.error.substr(begin.size()) : page.error;
  }

  void TearDown() override {
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
      if (file.path().filename().string().starts_with(name_ + '-'))
        std::filesystem::remove(file.path());
  }
};

TEST_F(SharedPageTest, IsTheSameForEveryMapping) {
  auto* first = static_cast<int*>(map_shared_page(name_.c_str(), 4096).base);
  auto* second = static_cast<int*>(map_shared_page(name_.c_str(), 4096).base);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  *first = 42;
  EXPECT_EQ(*second, 42);
  munmap(first, 4096);
  munmap(second, 4096);
}

TEST_F(SharedPageTest, HasItsModeAndAllItsMemoryWhateverTheUmask) {
  for (const mode_t mask : {0U, 077U, 0777U}) {
    const mode_t before = umask(mask);
    const std::string path = path_of_page();
    umask(before);
    struct stat status{};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    EXPECT_EQ(status.st_blocks * 512, 4096);
    std::filesystem::remove(path);
  }
}

TEST_F(SharedPageTest, ThatIsTooShortIsMadeWhole) {
  const std::string path = path_of_page();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  const SharedPage page = map_shared_page(name_.c_str(), 4096);
  ASSERT_NE(page.base, nullptr);
  EXPECT_EQ(static_cast<int*>(page.base)[1000], 0);
  munmap(page.base, 4096);
}

TEST_F(SharedPageTest, WhatLiesInItsPlaceIsNotUsedAndNotWaitedFor) {
  EXPECT_EQ(error_in([](const char* path) { mkfifo(path, 0600); }), "it is not a regular file");
  EXPECT_EQ(error_in([](const char* path) { mkdir(path, 0700); }), "Is a directory");
  EXPECT_EQ(error_in([](const char* path) { (void)!symlink("/dev/null", path); }),
            "it is a symbolic link");
  EXPECT_EQ(error_in([](const char* path) {
              close(open(path, O_RDWR | O_CREAT, 0600));
              chmod(path, 0660);
            }),
            "its mode allows access to other users");
  if (geteuid() != 0) return;
  EXPECT_EQ(error_in([](const char* path) {
              close(open(path, O_RDWR | O_CREAT, 0600));
              (void)!chown(path, 12345, 12345);
            }),
            "it belongs to another user");
}

TEST_F(SharedPageTest, ALimitOfFileSizesIsNoSignal) {
  const std::string path = path_of_page();
  std::filesystem::remove(path);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit none{};
    setrlimit(RLIMIT_FSIZE, &none);
    const SharedPage page = map_shared_page(name_.c_str(), 4096);
    _exit(page.base == nullptr && page.error.ends_with("File too large") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ProcessTest, AProcessIsAliveUntilItIsNot) {
  EXPECT_TRUE(is_process_alive(own_process_identity()));
  // This process number with another start time.
  EXPECT_FALSE(is_process_alive(own_process_identity() + 1));
}

TEST(ProcessTest, AProcessWhoseFirstThreadHasEndedIsAlive) {
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    const auto wait = [](void*) -> void* {
      for (;;)
        pause();
    };
    const std::uint64_t identity = own_process_identity();
    const bool has_begun = pthread_create(&thread, nullptr, wait, nullptr) == 0 &&
                           write(said[1], &identity, sizeof identity) == ssize_t{sizeof identity};
    // Exits this thread alone, without unwinding its C++ frames.
    if (has_begun) syscall(SYS_exit, 0);
    _exit(1);
  }
  close(said[1]);
  std::uint64_t identity = 0;
  ASSERT_EQ(read(said[0], &identity, sizeof identity), ssize_t{sizeof identity});
  close(said[0]);
  for (int i = 0; i < 2000 && state_of(child) != 'Z'; ++i)
    usleep(10'000);
  EXPECT_EQ(state_of(child), 'Z');
  EXPECT_TRUE(is_process_alive(identity));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_process_alive(identity));
}

}  // namespace
}  // namespace sorrel::os
