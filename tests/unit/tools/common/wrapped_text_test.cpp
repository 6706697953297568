#include "tools/sorrel/common/wrapped_text.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {

namespace {

TEST(WrappedText, a_line_holds_as_many_words_as_fit) {
  EXPECT_EQ(wrapped_text("one two three four", 0, 9), "one two\nthree\nfour\n");
  EXPECT_EQ(wrapped_text("one two", 0, 7), "one two\n");
}

TEST(WrappedText, every_line_is_indented) {
  EXPECT_EQ(wrapped_text("one two three", 2, 9), "  one two\n  three\n");
}

TEST(WrappedText, a_long_word_has_a_line_of_its_own) {
  EXPECT_EQ(wrapped_text("a abcdefghij b", 1, 5), " a\n abcdefghij\n b\n");
}

TEST(WrappedText, breaks_and_repeated_blanks_count_as_one) {
  EXPECT_EQ(wrapped_text("  one\n  two ", 0, 72), "one two\n");
}

TEST(WrappedText, no_word_is_an_empty_line) {
  EXPECT_EQ(wrapped_text("", 4, 72), "\n");
}

}  // namespace

}  // namespace sorrel::tool
