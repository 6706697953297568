#include "os/json_writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

/// What `write` has written.
template <class Write>
std::string text_by(Write&& write) {
  const int file = memfd_create("json", MFD_CLOEXEC);
  {
    JsonWriter json(file);
    write(json);
  }
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(file);
  return text;
}

std::string string_of(std::string_view text) {
  return text_by([&](JsonWriter& json) { json.value(text); });
}

TEST(JsonWriter, SeparatesMembersAndElements) {
  const std::string text = text_by([](JsonWriter& json) {
    json.begin_object().key("a").begin_array().value(1).value("b").null().begin_array().end_array();
    json.begin_object().end_object().end_array().key("c");
    json.value(std::numeric_limits<std::int64_t>::min()).end_object();
  });
  EXPECT_EQ(text, R"({"a":[1,"b",null,[],{}],"c":-9223372036854775808})");
}

TEST(JsonWriter, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(string_of("a\"b\\c/\n\x1F\x7F"), "\"a\\\"b\\\\c/\\u000a\\u001f\\u007f\"");
  // A terminal takes these for control characters, too: the first and the last one, and no other.
  EXPECT_EQ(string_of("\xC2\x80 \xC2\x9F \xC2\xA0"), "\"\\u0080 \\u009f \xC2\xA0\"");
  EXPECT_EQ(string_of("ä → 😀 \xF4\x8F\xBF\xBF"), "\"ä → 😀 \xF4\x8F\xBF\xBF\"");
}

TEST(JsonWriter, BytesThatAreNotUtf8AreReplaced) {
  const auto marks = [](int count) {
    std::string text = "\"";
    for (int i = 0; i < count; ++i)
      text += "\xEF\xBF\xBD";
    return text + "\"";
  };
  EXPECT_EQ(string_of("\xFF"), marks(1));
  // Cut, overlong, a surrogate, and above the last character.
  EXPECT_EQ(string_of("\xE2\x82"), marks(2));
  EXPECT_EQ(string_of("\xC0\xAF"), marks(2));
  EXPECT_EQ(string_of("\xE0\x9F\xBF"), marks(3));
  EXPECT_EQ(string_of("\xED\xA0\x80"), marks(3));
  EXPECT_EQ(string_of("\xF4\x90\x80\x80"), marks(4));
}

TEST(JsonWriter, ALongTextIsWritten) {
  const std::string text(10'000, 'x');
  EXPECT_EQ(string_of(text), '"' + text + '"');
}

TEST(JsonWriter, TheFirstErrorIsReturned) {
  const int file = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  JsonWriter json(file);
  json.value("x");
  EXPECT_EQ(json.flush(), ENOSPC);
  close(file);
  EXPECT_EQ(json.flush(), ENOSPC);
}

}  // namespace
}  // namespace sorrel::os
