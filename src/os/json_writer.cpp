#include "os/json_writer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "os/write_all.hpp"

namespace sorrel::os {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The bytes of the character of UTF-8 at the beginning of the text, which is not empty; 0 if it is
/// none. The ranges are table 3-7 of the Unicode standard.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < count) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < count; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return count;
}

/// The code of the control character at the beginning of the text, which is a character of UTF-8:
/// up to 0x1F, and 0x7F to 0x9F.
std::optional<unsigned> control_code(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7F) return byte;
  if (byte != 0xC2) return std::nullopt;
  const auto second = static_cast<unsigned char>(text[1]);
  return second < 0xA0 ? std::optional<unsigned>(second) : std::nullopt;
}

}  // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  add_quoted(name);
  add(":");
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  add_quoted(text);
  return *this;
}

JsonWriter& JsonWriter::null() {
  return add_value("null");
}

int JsonWriter::flush() {
  SORREL_ASSERT(size_ <= buffer_.size(), "%zu bytes of %zu", size_, buffer_.size());
  if (error_ == 0) error_ = write_all(descriptor_, {buffer_.data(), size_});
  size_ = 0;
  return error_;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  add({&bracket, 1});
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  add({&bracket, 1});
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::add_value(std::string_view text) {
  separate();
  add(text);
  return *this;
}

/// Before a key or a value.
void JsonWriter::separate() {
  if (needs_comma_) add(",");
  needs_comma_ = true;
}

void JsonWriter::add_quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  add("\"");
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (count == 0) {
      add(replacement);
    } else if (byte == '"' || byte == '\\') {
      const std::array<char, 2> escape = {'\\', text.front()};
      add({escape.data(), escape.size()});
    } else if (const auto code = control_code(text); code) {
      const std::array<char, 6> escape = {
          '\\', 'u', '0', '0', digits[*code >> 4], digits[*code & 15]};
      add({escape.data(), escape.size()});
    } else {
      add(text.substr(0, count));
    }
    SORREL_ASSERT(count <= text.size(), "a character of %zu bytes in a text of %zu", count,
                  text.size());
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  add("\"");
}

void JsonWriter::add(std::string_view text) {
  while (!text.empty()) {
    if (size_ == buffer_.size()) flush();
    const std::size_t count = std::min(text.size(), buffer_.size() - size_);
    std::memcpy(buffer_.data() + size_, text.data(), count);
    size_ += count;
    text.remove_prefix(count);
  }
}

}  // namespace sorrel::os
