#include "tools/sorrel/inspect/interpreter.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

using Words = std::vector<std::string>;

TEST(Interpreter, IsRecognisedByItsNameWithAnyVersion) {
  for (const char* name : {"python", "/usr/bin/python3.11", "./pypy3", "julia", "/opt/x/lua5.4"})
    EXPECT_TRUE(is_interpreter(name)) << name;
}

TEST(Interpreter, IsNoProgramThatOnlySoundsLikeOne) {
  for (const char* name : {"/home/python/heat", "pythonic", "sh", "bash", "3", ""})
    EXPECT_FALSE(is_interpreter(name)) << name;
}

TEST(Interpreter, AScriptNamesItWithAtMostOneArgument) {
  EXPECT_EQ(interpreter_arguments("/usr/bin/python3"), (Words{"/usr/bin/python3"}));
  EXPECT_EQ(interpreter_arguments("  /usr/bin/python3  -u -x \r"),
            (Words{"/usr/bin/python3", "-u -x"}));
  EXPECT_EQ(interpreter_arguments(""), Words{});
}

TEST(Interpreter, IsFoundBehindEnv) {
  EXPECT_EQ(interpreter_arguments("/usr/bin/env python3"), (Words{"python3"}));
  EXPECT_EQ(interpreter_arguments("/usr/bin/env -S python3 -u"), (Words{"python3", "-u"}));
  EXPECT_EQ(interpreter_arguments("/usr/bin/env"), Words{});
}

}  // namespace
}  // namespace sorrel::tool
