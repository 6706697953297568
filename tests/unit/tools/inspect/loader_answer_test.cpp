// Goal: the loader's lists and errors are understood, as glibc and musl print them.
#include "tools/sorrel/inspect/loader_answer.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

TEST(LoaderAnswer, APathForEachLibraryOfTheList) {
  const LoaderAnswer answer = parse_loader_answer(
      "\tlinux-vdso.so.1 (0x00007fff)\n"
      "\tliba.so.1 => /opt/a b/liba.so.1 (0x00007f01)\n"
      "\tlibb.so => /opt/libb (2).so (0x00007f02)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f03)\n");
  EXPECT_EQ(answer.paths.size(), 2U);
  EXPECT_EQ(answer.paths.at("liba.so.1"), "/opt/a b/liba.so.1");
  EXPECT_EQ(answer.paths.at("libb.so"), "/opt/libb (2).so");
  EXPECT_EQ(answer.missing, "");
}

TEST(LoaderAnswer, TheLibraryThatTheLoaderLacks) {
  const LoaderAnswer answer = parse_loader_answer(
      "./app: error while loading shared libraries: libx.so.2: cannot open shared object file: No "
      "such file or directory\n");
  EXPECT_TRUE(answer.paths.empty());
  EXPECT_EQ(answer.missing, "libx.so.2");
}

TEST(LoaderAnswer, OtherTextSaysNothing) {
  for (const char* text :
       {"", "\n", " => ", "liba.so => not found", "a => (0x1)", "usage: ld.so"}) {
    const LoaderAnswer answer = parse_loader_answer(text);
    EXPECT_TRUE(answer.paths.empty()) << text;
    EXPECT_EQ(answer.missing, "") << text;
  }
}

}  // namespace
}  // namespace sorrel::tool
