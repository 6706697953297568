#include "tools/sorrel/common/numbers.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace sorrel::tool {
namespace {

TEST(Numbers, ACountIsDigitsAndNothingElse) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("4096"), 4096u);
  for (const char* text : {"", " 4", "4 ", "+4", "-4", "4.0", "4x", "0x4", "four"}) {
    EXPECT_FALSE(parse_count(text).has_value()) << text;
  }
}

TEST(Numbers, AnEndlessCountIsTheLargest) {
  EXPECT_EQ(parse_count("99999999999999999999999"), std::numeric_limits<std::uint64_t>::max());
}

TEST(Numbers, SizesKnowTheirUnits) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("16K"), 16384u);
  EXPECT_EQ(parse_size("16k"), 16384u);
  EXPECT_EQ(parse_size("2M"), 2u << 20);
  EXPECT_EQ(parse_size("1GiB"), 1u << 30);
  EXPECT_EQ(parse_size("1MB"), 1u << 20);
  for (const char* text : {"", "K", "1T", "1.5M", "-1K", "1 K", "1KK", "99999999999999G"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

TEST(Numbers, SizesAreWrittenInTheLargestUnitThatDivides) {
  EXPECT_EQ(format_size(1000), "1000 bytes");
  EXPECT_EQ(format_size(16384), "16 KiB");
  EXPECT_EQ(format_size(3u << 20), "3 MiB");
  EXPECT_EQ(format_size(0), "0 bytes");
}

}  // namespace
}  // namespace sorrel::tool
