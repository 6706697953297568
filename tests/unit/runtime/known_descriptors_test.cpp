#include "runtime/checkpoint/known_descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace sorrel::runtime {
namespace {

class KnownDescriptorsTest : public testing::Test {
 protected:
  KnownDescriptorsTest() {
    known_.read();
    opened_ = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  }

  ~KnownDescriptorsTest() override { close_opened(); }

  void close_opened() {
    if (opened_ >= 0) ::close(opened_);
    opened_ = -1;
  }

  KnownDescriptors known_;
  int opened_ = -1;
  int waits_ = 0;
};

TEST_F(KnownDescriptorsTest, OneThatStaysOpenIsFound) {
  const std::string found = known_.find_new({}, [&] { ++waits_; });
  EXPECT_NE(found.find("descriptor " + std::to_string(opened_) + " (/proc/"), std::string::npos)
      << found;
  EXPECT_GT(waits_, 1);
}

TEST_F(KnownDescriptorsTest, OneThatIsClosedSoonIsNot) {
  const auto wait = [&] {
    if (++waits_ == 3) close_opened();
  };
  EXPECT_EQ(known_.find_new({}, wait), "");
  EXPECT_EQ(waits_, 3);
}

TEST_F(KnownDescriptorsTest, FilesOfRanksAreNot) {
  EXPECT_EQ(known_.find_new({opened_}, [&] { ++waits_; }), "");
  EXPECT_EQ(waits_, 0);
}

}  // namespace
}  // namespace sorrel::runtime
