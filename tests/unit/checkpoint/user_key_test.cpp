#include "checkpoint/user_key.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::checkpoint {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::string_view>;

class UserKeyTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/state/sorrel/key";
};

TEST_F(UserKeyTest, IsMadeOnceForItsUserOnly) {
  UserKey key;
  EXPECT_FALSE(key.is_there());
  EXPECT_EQ(key.code_of(Parts{"text"}), "");
  ASSERT_EQ(key.open(path_), "");
  struct stat about{};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0600U);
  EXPECT_EQ(about.st_size, 32);
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path_).parent_path()), {}), 1);
  UserKey again;
  ASSERT_EQ(again.open(path_), "");
  EXPECT_EQ(again.code_of(Parts{"text"}), key.code_of(Parts{"text"}));
  fs::remove(path_);
  UserKey other;
  ASSERT_EQ(other.open(path_), "");
  EXPECT_NE(other.code_of(Parts{"text"}), key.code_of(Parts{"text"}));
}

TEST_F(UserKeyTest, OneThatOthersMayWriteIsNotUsed) {
  UserKey key;
  ASSERT_EQ(key.open(path_), "");
  ASSERT_EQ(::chmod(path_.c_str(), 0622), 0);
  UserKey open;
  EXPECT_NE(open.open(path_).find("may be written by other users"), std::string::npos);
  EXPECT_FALSE(open.is_there());
  fs::rename(path_, path_ + ".kept");
  fs::create_symlink(path_ + ".kept", path_);
  EXPECT_NE(open.open(path_).find("is a symbolic link"), std::string::npos);
  fs::remove(path_);
  std::ofstream(path_) << "short";
  EXPECT_NE(open.open(path_).find("is damaged"), std::string::npos);
}

TEST_F(UserKeyTest, ACodeDependsOnEachByteAndOnWhereEachPartEnds) {
  UserKey key;
  ASSERT_EQ(key.open(path_), "");
  const std::string code = key.code_of(Parts{"ab", "c"});
  EXPECT_EQ(code.size(), 64U);
  EXPECT_EQ(code, key.code_of(Parts{"ab", "c"}));
  for (const Parts& parts :
       {Parts{"a", "bc"}, Parts{"abc"}, Parts{"ab", "d"}, Parts{"ab", "c", ""}})
    EXPECT_NE(key.code_of(parts), code);
}

}  // namespace
}  // namespace sorrel::checkpoint
