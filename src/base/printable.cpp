#include "base/printable.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sorrel {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<std::uint8_t>(text[index]);
}

/// Whether a UTF-8 character is a control character: C0, delete or C1.
bool is_control(std::string_view character) {
  const std::uint8_t first = byte_at(character, 0);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && byte_at(character, 1) < 0xa0);
}

/// Bytes of the UTF-8 character at the start of `text`; 0 if `text` does not begin with one.
std::size_t utf8_length(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const auto length = static_cast<std::size_t>(std::countl_one(first));
  if (length < 2 || length > 4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte_at(text, i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length - 2] || code > 0x10ffff || is_surrogate ? 0 : length;
}

}  // namespace

std::string_view take_printable(std::string_view& text, std::array<char, 8>& space) {
  const std::size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, length == 0 ? 1 : length);
  text.remove_prefix(character.size());
  if (length != 0 && !is_control(character)) return character;
  if (character == "\n") return "\\n";
  if (character == "\t") return "\\t";
  constexpr std::string_view digits = "0123456789abcdef";
  std::size_t size = 0;
  for (std::size_t i = 0; i < character.size(); ++i) {
    const std::uint8_t byte = byte_at(character, i);
    for (const char letter : {'\\', 'x', digits[byte >> 4], digits[byte & 15]})
      space[size++] = letter;
  }
  return {space.data(), size};
}

std::string printable(std::string_view text) {
  std::string result;
  std::array<char, 8> space{};
  while (!text.empty())
    result += take_printable(text, space);
  return result;
}

}  // namespace sorrel
