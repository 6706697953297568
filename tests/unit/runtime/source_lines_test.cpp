#include "runtime/source_lines.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

[[gnu::noinline]] const void* place_of_the_call() {
  return __builtin_return_address(0);
}

TEST(SourceLines, NameTheFunctionOrTheFileOfACall) {
  const void* here = place_of_the_call();
  const auto lines = source_lines({here, nullptr, here});
  ASSERT_EQ(lines.size(), 3U);
  // With debug information and addr2line it is a line of this file; without, at least our program.
  EXPECT_TRUE(lines[0].find("source_lines_test.cpp:") != std::string::npos ||
              lines[0].find("test_runtime") != std::string::npos)
      << lines[0];
  EXPECT_EQ(lines[1], "-");
  EXPECT_EQ(lines[2], lines[0]);
}

TEST(SourceLines, OfNothingAreNone) {
  EXPECT_TRUE(source_lines({}).empty());
}

}  // namespace
}  // namespace sorrel::runtime
