#include "os/shared_page.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

/// The letter that the system shows for a process: Z when its first thread has ended.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos ? '?' : text[name_end + 2];
}

/// A page of this process alone, which is away when the test is over.
class SharedPageTest : public ::testing::Test {
 protected:
  const std::string name_ = "sorrel-test-" + std::to_string(getpid());

  void TearDown() override {
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
      if (file.path().filename().string().starts_with(name_ + '-'))
        std::filesystem::remove(file.path());
  }
};

TEST_F(SharedPageTest, IsTheSameForEveryMapping) {
  auto* first = static_cast<int*>(map_shared_page(name_.c_str(), 4096));
  auto* second = static_cast<int*>(map_shared_page(name_.c_str(), 4096));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  *first = 42;
  EXPECT_EQ(*second, 42);
  munmap(first, 4096);
  munmap(second, 4096);
}

TEST(ProcessTest, AProcessIsAliveUntilItIsNot) {
  EXPECT_TRUE(is_process_alive(own_process_identity()));
  // The same number, another time of start.
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
    // This thread alone, and without its C++ frames.
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
