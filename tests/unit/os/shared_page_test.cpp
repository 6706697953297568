#include "os/shared_page.hpp"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
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
