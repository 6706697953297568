#include "base/byte_cursor.hpp"

#include <array>
#include <gtest/gtest.h>

namespace sorrel {
namespace {

template <class... Values>
auto bytes_of(Values... values) {
  return std::array{static_cast<std::byte>(values)...};
}

TEST(ByteCursor, TakesNumbersAndTexts) {
  const auto bytes = bytes_of(1, 2, 0, 'a', 'b', 0, 0x80, 0x01, 0x7f, 0xff, 0x7e);
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.take<std::uint8_t>(), 1);
  EXPECT_EQ(cursor.take<std::uint16_t>(), 2);
  EXPECT_STREQ(cursor.take_text(), "ab");
  EXPECT_EQ(cursor.take_uleb(), 128U);
  EXPECT_EQ(cursor.take_sleb(), -1);
  EXPECT_EQ(cursor.take_sleb(), -129);
  EXPECT_TRUE(cursor.at_end());
  EXPECT_TRUE(cursor.is_good());
}

TEST(ByteCursor, YieldsZerosPastTheEnd) {
  const auto bytes = bytes_of('a', 'b', 0x80);
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.take<std::uint64_t>(), 0U);
  EXPECT_FALSE(cursor.is_good());
  EXPECT_TRUE(cursor.at_end());
  EXPECT_EQ(cursor.take_uleb(), 0U);
  ByteCursor text(bytes);
  EXPECT_STREQ(text.take_text(), "");
  EXPECT_FALSE(text.is_good());
  ByteCursor number(std::span<const std::byte>(bytes).subspan(2));
  EXPECT_EQ(number.take_uleb(), 0U);
  EXPECT_FALSE(number.is_good());
}

TEST(ByteCursor, TakesParts) {
  const auto bytes = bytes_of(1, 2, 3, 4);
  ByteCursor cursor(bytes);
  ByteCursor part = cursor.take_part(2);
  EXPECT_EQ(part.take<std::uint8_t>(), 1);
  part.skip(1);
  EXPECT_TRUE(part.is_good());
  EXPECT_EQ(part.take<std::uint8_t>(), 0);
  EXPECT_FALSE(part.is_good());
  EXPECT_EQ(cursor.take<std::uint16_t>(), 0x0403);
  (void)cursor.take_part(1);
  EXPECT_FALSE(cursor.is_good());
}

}  // namespace
}  // namespace sorrel
