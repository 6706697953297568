#include "report/finding_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace sorrel::report {

namespace {

constexpr std::size_t field_count = 7;

/// In one line, without the tabs that separate fields.
std::string field_of(std::string_view text) {
  std::string field(text);
  std::ranges::replace_if(field, [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
  return field;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string finding_line_text(const FindingLine& line) {
  std::string text(line.kind);
  const std::array<std::string, field_count - 1> others = {
      std::to_string(line.rank),   std::string(line.call), field_of(line.path),
      std::to_string(line.offset), field_of(line.script),  field_of(line.text)};
  for (const std::string& field : others)
    text += "\t" + field;
  return text + "\n";
}

std::optional<FindingLine> parse_finding_line(std::string_view text) {
  std::array<std::string_view, field_count> fields;
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\t', at), text.size());
    if (count == field_count) return std::nullopt;
    fields[count++] = text.substr(at, end - at);
    at = end + 1;
  }
  FindingLine line;
  if (count != field_count || !read_number(fields[1], line.rank) ||
      !read_number(fields[4], line.offset))
    return std::nullopt;
  line.kind = fields[0];
  line.call = fields[2];
  line.path = fields[3];
  line.script = fields[5];
  line.text = fields[6];
  return line;
}

}  // namespace sorrel::report
