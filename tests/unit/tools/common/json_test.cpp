#include "tools/sorrel/common/json.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(Json, MembersKeepTheirOrder) {
  const Json json = {{"name", "a\"b\\c\n\x01"},
                     {"count", 3},
                     {"ratio", 0.5},
                     {"truth", true},
                     {"nothing", nullptr},
                     {"empty", Json::array()},
                     {"items", {1, Json::object()}}};
  EXPECT_EQ(text_of(json),
            "{\n  \"name\": \"a\\\"b\\\\c\\n\\u0001\",\n  \"count\": 3,\n  \"ratio\": 0.5,\n  "
            "\"truth\": true,\n"
            "  \"nothing\": null,\n  \"empty\": [],\n  \"items\": [\n    1,\n    {}\n  ]\n}");
}

TEST(Json, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(text_of("\xc3\xa9\xff\xc3"), "\"\\u00e9\\ufffd\\ufffd\"");
}

TEST(Json, ControlCharactersAreEscaped) {
  EXPECT_EQ(text_of("\x1b\x7f\xc2\x9b"), "\"\\u001b\\u007f\\u009b\"");
}

}  // namespace
}  // namespace sorrel::tool
