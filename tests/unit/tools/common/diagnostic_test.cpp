#include "tools/sorrel/common/diagnostic.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sorrel::tool {
namespace {

const std::vector<std::string> options = {"-n",     "--ranks", "--workers", "--stack",
                                          "--bind", "--label", "--help"};

TEST(NearMatch, AMistypedWordFindsTheOneThatWasMeant) {
  EXPECT_EQ(near_match("--worker", options), "--workers");
  EXPECT_EQ(near_match("--lable", options), "--label");
  EXPECT_EQ(near_match("--stakc", options), "--stack");
}

TEST(NearMatch, AStrangeWordFindsNothing) {
  EXPECT_EQ(near_match("--frobnicate", options), "");
  EXPECT_EQ(near_match("", options), "");
}

}  // namespace
}  // namespace sorrel::tool
