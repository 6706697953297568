#include "base/printable.hpp"

#include <gtest/gtest.h>
#include <string>

#include "base/fixed_text.hpp"

namespace sorrel {
namespace {

TEST(PrintableText, WordsOfAnyLanguageStayAsTheyAre) {
  EXPECT_EQ(printable("a b ~"), "a b ~");
  EXPECT_EQ(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xb4"),
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xb4");
  EXPECT_EQ(printable(""), "");
}

TEST(PrintableText, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(PrintableText, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x80"), "\\x80");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // too long for its number
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last character
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(PrintableText, IsAddedToATextOfFixedLength) {
  FixedText<15> text;
  EXPECT_EQ(add_printable(text.add("<"), "a\x1b\xc2\x9bz").text(), "<a\\x1b\\xc2\\x9b");
  FixedText<40> whole;
  EXPECT_EQ(add_printable(whole, "a\tb\n\xff").text(), printable("a\tb\n\xff"));
}

}  // namespace
}  // namespace sorrel
