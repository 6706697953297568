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

TEST(Interpreter, IsStartedByCommandsThatAreKnownByName) {
  for (const char* name : {"uv", "/home/me/.local/bin/uv", "Rscript", "/usr/bin/R", "micromamba"})
    EXPECT_TRUE(starts_interpreter(name)) << name;
  for (const char* name : {"python3", "env", "uv.sh", "r", "/uv/solver"})
    EXPECT_FALSE(starts_interpreter(name)) << name;
}

}  // namespace
}  // namespace sorrel::tool
