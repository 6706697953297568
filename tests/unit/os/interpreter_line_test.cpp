#include "os/interpreter_line.hpp"

#include <gtest/gtest.h>

namespace sorrel::os {
namespace {

using Words = std::vector<std::string>;

TEST(InterpreterLine, NamesAnInterpreterWithAtMostOneArgument) {
  EXPECT_EQ(interpreter_arguments("/usr/bin/python3"), (Words{"/usr/bin/python3"}));
  EXPECT_EQ(interpreter_arguments("  /usr/bin/python3  -u -x \r"),
            (Words{"/usr/bin/python3", "-u -x"}));
  EXPECT_EQ(interpreter_arguments(""), Words{});
}

TEST(InterpreterLine, NamesOneBehindEnv) {
  EXPECT_EQ(interpreter_arguments("/usr/bin/env python3"), (Words{"python3"}));
  EXPECT_EQ(interpreter_arguments("/usr/bin/env -S python3 -u"), (Words{"python3", "-u"}));
  EXPECT_EQ(interpreter_arguments("/usr/bin/env"), Words{});
}

}  // namespace
}  // namespace sorrel::os
