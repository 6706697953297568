#include "symbols/source_lines.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include "symbols/symbol_file.hpp"

namespace sorrel::symbols {
namespace {

[[gnu::noinline]] const void* place_of_the_call() {
  return __builtin_return_address(0);
}

TEST(SourceLines, NameTheFunctionAndTheLineOfACall) {
  const void* here = place_of_the_call();
  const int line = __LINE__ - 1;
  const auto lines = source_lines({here, nullptr, here});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("NameTheFunctionAndTheLineOfACall"), std::string::npos) << lines[0];
  // Without debug information, the text is the program and an offset.
  const bool has_lines = !SymbolFile("/proc/self/exe").line_sections().lines.empty();
  const std::string place =
      has_lines ? "(source_lines_test.cpp:" + std::to_string(line) + ")" : "(test_runtime+0x";
  EXPECT_NE(lines[0].find(place), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1], "-");
  EXPECT_EQ(lines[2], lines[0]);
}

TEST(SourceLines, NameTheFunctionsOfLibraries) {
  const auto* code = reinterpret_cast<const char*>(&pthread_create);
  const auto lines = source_lines({code + 1, code + 2});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find("pthread_create"), std::string::npos) << lines[1];
}

TEST(SourceLines, AreAsManyAsTheAddresses) {
  const std::vector<const void*> many(3 * source_text_count_max + 1, place_of_the_call());
  const auto lines = source_lines(many);
  ASSERT_EQ(lines.size(), many.size());
  EXPECT_EQ(lines.back(), lines.front());
}

TEST(SourceLines, OfNothingAreNone) {
  EXPECT_TRUE(source_lines({}).empty());
}

TEST(SourceLines, OfAStackAreNotKnown) {
  int somewhere = 0;
  EXPECT_EQ(source_lines({&somewhere}), std::vector<std::string>{"-"});
}

}  // namespace
}  // namespace sorrel::symbols
