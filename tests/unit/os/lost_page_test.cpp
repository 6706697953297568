#include "os/lost_page.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

/// The standard error output and the exit status of a child process.
struct Outcome {
  std::string error;
  int status = 0;
};

template <class Body>
Outcome in_child(Body body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    // A sanitizer installs its own handler.
    std::signal(SIGBUS, SIG_DFL);
    _exit(body());
  }
  close(ends[1]);
  Outcome outcome;
  std::array<char, 512> text{};
  for (ssize_t count = 0; (count = read(ends[0], text.data(), text.size())) > 0;)
    outcome.error.append(text.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

/// A page of a file that is then truncated.
volatile int* truncated_page() {
  const int file = memfd_create("lost", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, 4096) != 0) return nullptr;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  static_cast<int*>(page)[0] = 1;
  return ftruncate(file, 0) == 0 ? static_cast<volatile int*>(page) : nullptr;
}

volatile std::sig_atomic_t own_signals = 0;

void count_signal(int) {
  own_signals = own_signals + 1;
}

void end_with_seven(int, siginfo_t*, void*) {
  _exit(7);
}

TEST(LostPageTest, IsZeroedMemoryFromItsFirstTouchOnAndOneLineSaysSo) {
  const Outcome outcome = in_child([] {
    volatile int* first = truncated_page();
    volatile int* second = truncated_page();
    replace_when_lost(const_cast<int*>(first), 4096);
    replace_when_lost(const_cast<int*>(second), 4096);
    const bool are_zero = first[0] == 0 && second[1023] == 0;
    first[5] = 42;
    return are_zero && first[5] == 42 ? 0 : 1;
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error,
            "sorrel: the page of peer jobs in /dev/shm has been truncated; this job goes on "
            "without it\n");
}

TEST(LostPageTest, AnotherFaultEndsTheProcessAsBefore) {
  const Outcome outcome = in_child([] {
    replace_when_lost(const_cast<int*>(truncated_page()), 4096);
    return *truncated_page();
  });
  EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGBUS);
  EXPECT_EQ(outcome.error, "");
}

TEST(LostPageTest, AnotherFaultGoesToTheHandlerThatWasThereBefore) {
  const Outcome outcome = in_child([] {
    struct sigaction action{};
    action.sa_sigaction = end_with_seven;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
    replace_when_lost(const_cast<int*>(truncated_page()), 4096);
    return *truncated_page();
  });
  EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 7);
}

TEST(LostPageTest, ASignalThatWasSentIsTheProgramsOwn) {
  Outcome outcome = in_child([] {
    std::signal(SIGBUS, count_signal);
    replace_when_lost(const_cast<int*>(truncated_page()), 4096);
    raise(SIGBUS);
    return static_cast<int>(own_signals);
  });
  EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 1);
  outcome = in_child([] {
    replace_when_lost(const_cast<int*>(truncated_page()), 4096);
    raise(SIGBUS);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGBUS);
}

}  // namespace
}  // namespace sorrel::os
