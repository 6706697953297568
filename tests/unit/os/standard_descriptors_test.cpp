#include "os/standard_descriptors.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

// In a child, because the test needs its own descriptors.
TEST(StandardDescriptorsDeathTest, ThoseThatAreClosedStayUselessAndAreTaken) {
  const auto child = [] {
    for (int number = 0; number <= 2; ++number)
      close(number);
    reserve_standard_descriptors();
    char byte = 'x';
    const bool fails = read(0, &byte, 1) < 0 && errno == EBADF && write(1, &byte, 1) < 0 &&
                       errno == EBADF && write(2, &byte, 1) < 0 && errno == EBADF;
    const int next = open("/dev/null", O_RDONLY);
    _exit(fails && next > 2 ? 7 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(7), "");
}

TEST(StandardDescriptorsDeathTest, ThoseThatAreOpenStayAsTheyAre) {
  const auto child = [] {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[0], 0) != 0) _exit(1);
    reserve_standard_descriptors();
    char byte = 'x';
    (void)!write(ends[1], "y", 1);
    _exit(read(0, &byte, 1) == 1 && byte == 'y' ? 7 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sorrel::os
