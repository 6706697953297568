#include "base/fixed_text.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace sorrel {
namespace {

TEST(FixedText, PutsTextsAndNumbersTogether) {
  FixedText<80> text;
  text.add("rank ").add(-3).add(", ").add(std::numeric_limits<std::uint64_t>::max()).add(" at ");
  text.add_hex(0x7fff0012);
  EXPECT_EQ(text.text(), "rank -3, 18446744073709551615 at 0x7fff0012");
  EXPECT_STREQ(text.c_str(), "rank -3, 18446744073709551615 at 0x7fff0012");
}

TEST(FixedText, LeavesOutWhatDoesNotFit) {
  FixedText<8> text;
  text.add("12345").add("6789").add(42);
  EXPECT_STREQ(text.c_str(), "1234567");
  text.clear();
  EXPECT_TRUE(text.is_empty());
  EXPECT_STREQ(text.add("again").c_str(), "again");
}

}  // namespace
}  // namespace sorrel
