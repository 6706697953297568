#include "os/shared_segment.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

TEST(SharedSegment, IsAdoptedByItsDescriptor) {
  const SharedSegment made = SharedSegment::create(8192);
  ASSERT_TRUE(made.is_valid());
  made.base()[5000] = std::byte{7};
  const SharedSegment adopted = SharedSegment::adopt(dup(made.descriptor()), 8192);
  ASSERT_TRUE(adopted.is_valid());
  EXPECT_EQ(adopted.base()[5000], std::byte{7});
}

TEST(SharedSegment, AFileWithANameIsNotAdopted) {
  char name[] = "/tmp/segment-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, 8192), 0);
  EXPECT_FALSE(SharedSegment::adopt(file, 8192).is_valid());
  EXPECT_EQ(errno, EBADF);
  close(file);
  unlink(name);
}

TEST(SharedSegment, ASmallOneOrNoneIsNotAdopted) {
  const SharedSegment made = SharedSegment::create(4096);
  EXPECT_FALSE(SharedSegment::adopt(made.descriptor(), 8192).is_valid());
  EXPECT_FALSE(SharedSegment::adopt(-1, 8192).is_valid());
}

TEST(SharedSegmentDeathTest, TheLimitOfFileSizesIsAnErrorAndNoSignal) {
  const auto child = [] {
    const rlimit none{.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    const bool is_refused = !SharedSegment::create(8192).is_valid() && errno == EFBIG;
    _exit(is_refused ? 7 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sorrel::os
