#include "tools/sorrel/common/code_files.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(CodePlaceTest, ATextOfAPlaceIsReadAsItWasWritten) {
  for (const char* text :
       {"solve (heat.py:12)", "<module> (a: b (c).py:7)", "<cell line: 3> (x:1)"}) {
    const CodePlace place = code_place_of(text);
    EXPECT_EQ(text_of(&place), text);
    EXPECT_NE(place.line, 0U) << text;
    EXPECT_FALSE(place.function.empty()) << text;
  }
  const CodePlace place = code_place_of("solve (heat.py:12)");
  EXPECT_EQ(place.function, "solve");
  EXPECT_EQ(place.file, "heat.py");
  EXPECT_EQ(place.line, 12U);
}

TEST(CodePlaceTest, OtherTextIsAFile) {
  for (const char* text : {"heat.py", "solve (heat.py:12", "solve (heat.py:1x)", ") (:", ""}) {
    const CodePlace place = code_place_of(text);
    EXPECT_EQ(place.file, text);
    EXPECT_EQ(place.function, "");
    EXPECT_EQ(place.line, 0U);
  }
}

}  // namespace
}  // namespace sorrel::tool
