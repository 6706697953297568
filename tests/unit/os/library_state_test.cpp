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
  EXPECT_NE(reason_to_share("/lib/x86_64-linux-gnu/libcuda.so.1"), "");
  EXPECT_NE(reason_to_share("libnvidia-ptxjitcompiler.so.1"), "");
  EXPECT_EQ(reason_to_share("libcudart.so.13"), "");
  EXPECT_EQ(reason_to_share("libgfortran.so.5"), "");
  EXPECT_EQ(reason_to_share("libgsl.so.27"), "");
  EXPECT_EQ(reason_to_share(""), "");
}

TEST(LibraryState, CopiesInWheelsHaveTheNameOfTheirLibrary) {
  EXPECT_TRUE(is_library("/lib/libquadmath.so.0", "libquadmath.so"));
  EXPECT_TRUE(is_library("/wheel.libs/libquadmath-96973f99.so.0.0.0", "libquadmath.so"));
  EXPECT_TRUE(is_library("libmpi-0123abcd.so.40.30.4", "libmpi.so"));
  EXPECT_FALSE(is_library("libmpi-0123abcd.so.40.30.4", "libmpi.so.12"));
  // The wheel of a library that was itself taken out of a wheel: numpy's libraries of gfortran.
  EXPECT_TRUE(is_library("libgfortran-040039e1-0352e75f.so.5.0.0", "libgfortran.so"));
  EXPECT_FALSE(is_library("libgfortran-040039e1-0352e75.so.5.0.0", "libgfortran.so"));
  EXPECT_FALSE(is_library("libquadmath-96973f9.so.0", "libquadmath.so"));
  EXPECT_FALSE(is_library("libquadmath-96973f991.so.0", "libquadmath.so"));
  EXPECT_FALSE(is_library("libquadmath-mine1234.so.0", "libquadmath.so"));
  EXPECT_FALSE(is_library("libquadmath-96973f99", "libquadmath.so"));
  EXPECT_FALSE(is_library("", "libquadmath.so"));
  EXPECT_TRUE(is_library("libtcmalloc_minimal.so.4", "libtcmalloc"));
  EXPECT_NE(reason_to_share("libquadmath-96973f99.so.0.0.0"), "");
  EXPECT_NE(reason_to_share("libgomp-a34b3233.so.1.0.0"), "");
  EXPECT_EQ(reason_to_share("libgfortran-040039e1.so.5.0.0"), "");
  EXPECT_TRUE(may_be_private("libquadmath-96973f99.so.0.0.0"));
  EXPECT_TRUE(is_cxx_library("libstdc++-0a1b2c3d.so.6.0.32"));
}

TEST(LibraryState, DeclarationsAreByNameOrPath) {
  const std::vector<std::string> declared = {"liba.so.1", "/opt/lib/libb.so"};
  EXPECT_TRUE(is_declared(declared, "liba.so.1", "/lib/liba.so.1"));
  EXPECT_TRUE(is_declared(declared, "libb.so.2", "/usr/lib/libb.so"));
  EXPECT_FALSE(is_declared(declared, "liba.so.2", "/lib/liba.so.2"));
}

}  // namespace
}  // namespace sorrel::os
