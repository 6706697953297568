//! JsonWriter - writes one JSON value, indented, in the order of the calls.
//!
//! The caller keeps objects and lists balanced; text is taken as UTF-8 and escaped.
#pragma once

#include <concepts>
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace sorrel::tool {

class JsonWriter {
 public:
  void begin_object(std::string_view key = "") { begin(key, '{'); }

  void end_object() { end('}'); }

  void begin_list(std::string_view key = "") { begin(key, '['); }

  void end_list() { end(']'); }

  void value(std::string_view key, std::string_view text);

  void value(std::string_view key, const char* text) { value(key, std::string_view(text)); }

  void value(std::string_view key, bool truth) { raw(key, truth ? "true" : "false"); }

  template <typename Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  void value(std::string_view key, Number number) {
    raw(key, fmt::format("{}", number));
  }

  void null(std::string_view key) { raw(key, "null"); }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void begin(std::string_view key, char bracket);
  void end(char bracket);
  void raw(std::string_view key, std::string_view value);
  void start_item(std::string_view key);

  std::string text_;
  int depth_ = 0;
  bool is_first_ = true;
};

/// `text` between quotes; characters that JSON forbids are escaped.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace sorrel::tool
