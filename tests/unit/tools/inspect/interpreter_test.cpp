#include "tools/sorrel/inspect/interpreter.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(Interpreter, IsRecognisedByItsNameWithAnyVersion) {
  for (const char* name : {"python", "/usr/bin/python3.11", "./pypy3", "julia", "/opt/x/lua5.4"})
    EXPECT_TRUE(is_interpreter(name)) << name;
}

TEST(Interpreter, IsNoProgramThatOnlySoundsLikeOne) {
  for (const char* name : {"/home/python/heat", "pythonic", "sh", "bash", "3", ""})
    EXPECT_FALSE(is_interpreter(name)) << name;
}

}  // namespace
}  // namespace sorrel::tool
