#include "tools/sorrel/common/json_writer.hpp"

#include <cstddef>

#include "tools/sorrel/common/printable_text.hpp"

namespace sorrel::tool {

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const char letter = text.front();
    text.remove_prefix(character.size());
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (letter == '\n') {
      quoted += "\\n";
    } else if (is_control(character)) {
      // The last byte of each of these characters is its number.
      quoted += fmt::format("\\u{:04x}",
                            static_cast<unsigned>(static_cast<unsigned char>(character.back())));
    } else {
      quoted += character;
    }
  }
  return quoted + '"';
}

void JsonWriter::start_item(std::string_view key) {
  if (!is_first_) text_ += ',';
  if (depth_ > 0) text_ += '\n' + std::string(static_cast<std::size_t>(depth_) * 2, ' ');
  if (!key.empty()) text_ += json_quoted(key) + ": ";
  is_first_ = false;
}

void JsonWriter::begin(std::string_view key, char bracket) {
  start_item(key);
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!is_first_) text_ += '\n' + std::string(static_cast<std::size_t>(depth_) * 2, ' ');
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::raw(std::string_view key, std::string_view value) {
  start_item(key);
  text_ += value;
}

void JsonWriter::value(std::string_view key, std::string_view text) {
  raw(key, json_quoted(text));
}

}  // namespace sorrel::tool
