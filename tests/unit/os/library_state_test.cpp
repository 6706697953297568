// Goal: libraries with state are distinguished from libraries without, also stripped ones. Method:
// libraries with one kind of state each. Does not cover state outside of a library's own memory.
#include "os/library_state.hpp"

#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

namespace sorrel::os {
namespace {

std::string state_of_subject(const std::string& name) {
  const std::string path = SORREL_SUBJECTS "/lib/libkeeps_" + name + ".so.1";
  auto opened = ElfFile::open(path);
  const auto* file = std::get_if<ElfFile>(&opened);
  if (file == nullptr) {
    ADD_FAILURE() << path << ": " << std::get<ElfError>(opened).detail;
    return "not read";
  }
  return state_of(*file);
}

#if defined(__x86_64__)
TEST(LibraryState, ConstantsAndWhatOnlyTheLoaderWritesIsNone) {
  EXPECT_EQ(state_of_subject("nothing"), "");
  EXPECT_EQ(state_of_subject("constants"), "");
  EXPECT_EQ(state_of_subject("exceptions"), "");
}
#endif

TEST(LibraryState, TheSmallestVariableIsFound) {
  EXPECT_NE(state_of_subject("byte"), "");
  EXPECT_NE(state_of_subject("number"), "");
  EXPECT_NE(state_of_subject("value"), "");
}

TEST(LibraryState, APointerThatMayChangeIsFound) {
  EXPECT_NE(state_of_subject("pointer"), "");
  EXPECT_NE(state_of_subject("pointed"), "");
}

TEST(LibraryState, ThreadLocalsAreNamed) {
  EXPECT_EQ(state_of_subject("thread_local"), "thread-local variables");
}

TEST(LibraryState, TablesAreCounted) {
  EXPECT_NE(state_of_subject("table").find(" bytes of writable data"), std::string::npos);
  EXPECT_GE(std::stoul(state_of_subject("table")), 400U);
  EXPECT_GE(std::stoul(state_of_subject("much")), 4000U);
}

TEST(LibraryState, TheSystemsLibrariesAreKnownByName) {
  EXPECT_NE(reason_to_share("libc.so.6"), "");
  EXPECT_NE(reason_to_share("/lib/x86_64-linux-gnu/libstdc++.so.6"), "");
  EXPECT_NE(reason_to_share("libmpi_abi.so.1"), "");
  EXPECT_EQ(reason_to_share("libgfortran.so.5"), "");
  EXPECT_EQ(reason_to_share("libgsl.so.27"), "");
  EXPECT_EQ(reason_to_share(""), "");
}

TEST(LibraryState, DeclarationsAreByNameOrPath) {
  const std::vector<std::string> declared = {"liba.so.1", "/opt/lib/libb.so"};
  EXPECT_TRUE(is_declared(declared, "liba.so.1", "/lib/liba.so.1"));
  EXPECT_TRUE(is_declared(declared, "libb.so.2", "/usr/lib/libb.so"));
  EXPECT_FALSE(is_declared(declared, "liba.so.2", "/lib/liba.so.2"));
}

}  // namespace
}  // namespace sorrel::os
