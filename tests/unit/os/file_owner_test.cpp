#include "os/file_owner.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "os/disk_file.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

/// While it lives, new files and folders have only the rights that the mask leaves.
class Mask {
 public:
  explicit Mask(mode_t mask) : before_(::umask(mask)) {}

  ~Mask() { ::umask(before_); }

  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;

 private:
  mode_t before_;
};

mode_t mode_of(const std::string& path) {
  struct stat about{};
  EXPECT_EQ(::stat(path.c_str(), &about), 0) << path;
  return about.st_mode & 07777U;
}

class FileOwnerTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return temporary_.path() + '/' + name; }

  const TemporaryFolder temporary_;
};

constexpr DiskFile::OpenMode new_private{
    .reads = false, .writes = true, .creates = true, .is_exclusive = true, .is_private = true};

TEST_F(FileOwnerTest, PrivateFilesAndFoldersHaveTheirModeWhateverTheMask) {
  for (const mode_t mask : {0000U, 0022U, 0777U}) {
    const Mask set(mask);
    const std::string file_path = path("file") + std::to_string(mask);
    const std::string folder_path = path("folder") + std::to_string(mask);
    DiskFile file;
    ASSERT_EQ(file.open(file_path.c_str(), new_private), 0);
    ASSERT_EQ(make_private_folder(folder_path), 0);
    EXPECT_EQ(mode_of(file_path), 0600U);
    EXPECT_EQ(mode_of(folder_path), 0700U);
    EXPECT_EQ(owner_error(file.descriptor()), "");
    EXPECT_EQ(owner_error(file_path), "");
    EXPECT_EQ(folder_owner_error(folder_path), "");
    EXPECT_EQ(make_private_folder(folder_path), EEXIST);
  }
}

TEST_F(FileOwnerTest, WhatOthersMayWriteOrIsAnothersIsAnError) {
  const std::string file = path("file");
  std::ofstream(file) << "text";
  for (const mode_t mode : {0620U, 0602U, 0777U}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_NE(owner_error(file).find("may be written by other users (mode 0"), std::string::npos);
  }
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(owner_error(file), "");
  EXPECT_EQ(folder_owner_error(file), "is not a folder");
  std::filesystem::create_symlink(file, path("link"));
  EXPECT_EQ(owner_error(path("link")), "is a symbolic link");
  EXPECT_NE(owner_error(path("absent")), "");
  if (::geteuid() != 0) {
    EXPECT_EQ(owner_error("/"), "belongs to user 0");
  } else {
    ASSERT_EQ(::chown(file.c_str(), 65534, 0), 0);
    EXPECT_EQ(owner_error(file), "belongs to user 65534");
  }
}

TEST_F(FileOwnerTest, OnlyRegularFilesAreOpenedAsPrivate) {
  const auto error_of = [](const std::string& at) {
    DiskFile file;
    return private_open_error("it", file.open(at.c_str(), {.is_private = true}));
  };
  std::ofstream(path("file")) << "text";
  std::filesystem::create_symlink(path("file"), path("link"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of(path("link")), "it is a symbolic link");
  EXPECT_EQ(error_of(path("fifo")), "it is a FIFO, a device or a socket");
  EXPECT_EQ(error_of("/dev/zero"), "it is a FIFO, a device or a socket");
  EXPECT_EQ(error_of(temporary_.path()), "it is a folder");
  DiskFile file;
  EXPECT_EQ(file.open(path("file").c_str(), {.is_private = true}), 0);
  // A link that points nowhere is not followed by one that makes a file, either.
  std::filesystem::create_symlink(path("absent"), path("open"));
  DiskFile made;
  EXPECT_EQ(made.open(path("open").c_str(), new_private), EEXIST);
  EXPECT_FALSE(std::filesystem::exists(path("absent")));
}

TEST_F(FileOwnerTest, AllMissingFoldersOfAPathArePrivate) {
  const Mask mask(0);
  ASSERT_EQ(::mkdir(path("there").c_str(), 0755), 0);
  ASSERT_EQ(make_private_folders(path("there/first/second")), 0);
  EXPECT_EQ(mode_of(path("there")), 0755U) << "that of its maker";
  EXPECT_EQ(mode_of(path("there/first")), 0700U);
  EXPECT_EQ(mode_of(path("there/first/second")), 0700U);
  EXPECT_EQ(make_private_folders(path("there/first/second")), 0);
  std::ofstream(path("file")) << "text";
  EXPECT_EQ(make_private_folders(path("file/below")), ENOTDIR);
}

}  // namespace
}  // namespace sorrel::os
