#include "tools/sorrel/common/json_writer.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(JsonWriter, ObjectsAndListsNest) {
  JsonWriter json;
  json.begin_object();
  json.value("name", "a\"b\\c\n\x01");
  json.value("count", 3);
  json.value("ratio", 0.5);
  json.value("truth", true);
  json.null("nothing");
  json.begin_list("empty");
  json.end_list();
  json.begin_list("items");
  json.value("", 1);
  json.begin_object();
  json.end_object();
  json.end_list();
  json.end_object();
  EXPECT_EQ(json.text(),
            "{\n  \"name\": \"a\\\"b\\\\c\\n\\u0001\",\n  \"count\": 3,\n  \"ratio\": 0.5,\n  "
            "\"truth\": true,\n"
            "  \"nothing\": null,\n  \"empty\": [],\n  \"items\": [\n    1,\n    {}\n  ]\n}");
}

TEST(JsonWriter, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(json_quoted("\xc3\xa9\xff\xc3"), "\"\xc3\xa9\\ufffd\\ufffd\"");
}

TEST(JsonWriter, ControlCharactersAreEscaped) {
  EXPECT_EQ(json_quoted("\x1b\x7f\xc2\x9b"), "\"\\u001b\\u007f\\u009b\"");
}

}  // namespace
}  // namespace sorrel::tool
