#include "tools/sorrel/inspect/python_program.hpp"

#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

namespace sorrel::tool {
namespace {

bool reads_input(std::initializer_list<const char*> words) {
  std::vector<char*> arguments{const_cast<char*>("python3")};
  for (const char* word : words)
    arguments.push_back(const_cast<char*>(word));
  return reads_program_from_input(arguments);
}

TEST(PythonProgram, IsReadFromStandardInputIfTheArgumentsNameNone) {
  EXPECT_TRUE(reads_input({}));
  EXPECT_TRUE(reads_input({"-"}));
  EXPECT_TRUE(reads_input({"-u", "-X", "dev", "-W", "error"}));
  EXPECT_TRUE(reads_input({"-uX", "dev"}));
  EXPECT_TRUE(reads_input({"-Xdev", "-Werror", "-i"}));
  EXPECT_TRUE(reads_input({"--check-hash-based-pycs", "never"}));
}

TEST(PythonProgram, IsAScriptAModuleOrText) {
  EXPECT_FALSE(reads_input({"x.py"}));
  EXPECT_FALSE(reads_input({"-u", "x.py", "-"}));
  EXPECT_FALSE(reads_input({"-m", "mpi4py.bench"}));
  EXPECT_FALSE(reads_input({"-um", "mpi4py.bench"}));
  EXPECT_FALSE(reads_input({"-cprint()"}));
  EXPECT_FALSE(reads_input({"-X", "dev", "x.py"}));
  EXPECT_FALSE(reads_input({"-Xdev", "x.py"}));
  EXPECT_FALSE(reads_input({"--check-hash-based-pycs", "never", "x.py"}));
}

TEST(PythonProgram, IsNotWantedWhereTheInterpreterOnlyPrintsAboutItself) {
  EXPECT_FALSE(reads_input({"-V"}));
  EXPECT_FALSE(reads_input({"-uh"}));
  EXPECT_FALSE(reads_input({"--version"}));
  EXPECT_FALSE(reads_input({"--help-all"}));
}

}  // namespace
}  // namespace sorrel::tool
