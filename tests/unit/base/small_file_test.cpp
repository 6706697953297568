#include "base/small_file.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/base/temporary_folder.hpp"

namespace sorrel {
namespace {

class SmallFile : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::string text_;
};

TEST_F(SmallFile, IsReadWhole) {
  std::ofstream(folder_ + "/f") << "a\nb";
  EXPECT_EQ(read_small_file(folder_ + "/f", 3, text_), "");
  EXPECT_EQ(text_, "a\nb");
}

TEST_F(SmallFile, MayBeEmpty) {
  std::ofstream(folder_ + "/f") << "";
  EXPECT_EQ(read_small_file(folder_ + "/f", 3, text_), "");
  EXPECT_EQ(text_, "");
}

TEST_F(SmallFile, IsNotReadBeyondTheLimit) {
  std::ofstream(folder_ + "/f") << "abcd";
  EXPECT_EQ(read_small_file(folder_ + "/f", 3, text_), "has more than 3 bytes");
}

TEST_F(SmallFile, APipeDoesNotHang) {
  ASSERT_EQ(mkfifo((folder_ + "/f").c_str(), 0600), 0);
  EXPECT_EQ(read_small_file(folder_ + "/f", 3, text_),
            "is a device, a pipe or a socket; a file is needed");
}

TEST_F(SmallFile, WhatIsNoFileIsSaid) {
  EXPECT_EQ(read_small_file("/dev/zero", 3, text_),
            "is a device, a pipe or a socket; a file is needed");
  EXPECT_EQ(read_small_file(folder_, 3, text_), "is a folder");
  EXPECT_EQ(read_small_file(folder_ + "/f", 3, text_), "does not exist");
}

}  // namespace
}  // namespace sorrel
