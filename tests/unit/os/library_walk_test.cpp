// Goal: every needed library is visited once, and a subclass decides where the walk goes on.
// Method: a program that needs libbetween.so.1, which needs libmpi_abi.so.1.
#include "os/library_walk.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

namespace sorrel::os {
namespace {

const std::string subjects = SORREL_SUBJECTS;

class Visitor final : public LibraryWalk {
 public:
  Visitor()
      : LibraryWalk(search_with((subjects + "/lib:" + SORREL_SUBJECT_TREE + "/lib").c_str())) {}

  std::string not_sought, not_read;
  std::vector<std::string> names, files;

 private:
  bool is_sought(std::string_view soname) override { return soname != not_sought; }

  bool is_read(const Need& need) override {
    names.push_back(need.soname);
    return need.soname != not_read;
  }

  void read(const Need& need, const ElfFile& library) override {
    EXPECT_EQ(library.soname, need.soname);
    files.push_back(need.soname);
  }
};

void walk(Visitor& visitor) {
  const std::string path = subjects + "/missing_below";
  const auto opened = ElfFile::open(path);
  const auto* program = std::get_if<ElfFile>(&opened);
  ASSERT_NE(program, nullptr);
  visitor.walk(*program, path);
  visitor.walk(*program, path);
}

bool has(const std::vector<std::string>& names, const char* name) {
  return std::ranges::count(names, name) == 1;
}

TEST(LibraryWalk, VisitsEachLibraryOnceAndDescends) {
  Visitor all;
  walk(all);
  EXPECT_TRUE(has(all.files, "libbetween.so.1"));
  EXPECT_TRUE(has(all.files, "libmpi_abi.so.1"));
  EXPECT_TRUE(has(all.files, "libc.so.6"));
  EXPECT_EQ(all.names, all.files);
}

TEST(LibraryWalk, DoesNotDescendIntoWhatIsNotRead) {
  Visitor visitor;
  visitor.not_read = "libbetween.so.1";
  walk(visitor);
  EXPECT_TRUE(has(visitor.names, "libbetween.so.1"));
  EXPECT_FALSE(has(visitor.files, "libbetween.so.1"));
  EXPECT_FALSE(has(visitor.names, "libmpi_abi.so.1"));
}

TEST(LibraryWalk, LeavesOutWhatIsNotSought) {
  Visitor visitor;
  visitor.not_sought = "libmpi_abi.so.1";
  walk(visitor);
  EXPECT_TRUE(has(visitor.files, "libbetween.so.1"));
  EXPECT_FALSE(has(visitor.names, "libmpi_abi.so.1"));
}

}  // namespace
}  // namespace sorrel::os
