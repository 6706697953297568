//! JsonWriter - writes JSON into a file descriptor, from a signal handler too: no allocation, no
//! lock.
//!
//! A key comes before each value in an object. Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace sorrel::os {

class JsonWriter {
 public:
  /// The caller keeps the descriptor open.
  explicit JsonWriter(int descriptor) : descriptor_(descriptor) {}

  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  ~JsonWriter() { flush(); }

  JsonWriter& begin_object() { return begin('{'); }

  JsonWriter& end_object() { return end('}'); }

  JsonWriter& begin_array() { return begin('['); }

  JsonWriter& end_array() { return end(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& null();

  JsonWriter& value(std::integral auto number) {
    std::array<char, 24> digits;
    const auto last = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add_value({digits.data(), static_cast<std::size_t>(last - digits.data())});
  }

  /// Writes what is buffered. 0, or the errno of the first write that failed.
  int flush();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& add_value(std::string_view text);
  void separate();
  void add_quoted(std::string_view text);
  void add(std::string_view text);

  const int descriptor_;
  int error_ = 0;
  bool needs_comma_ = false;
  std::size_t size_ = 0;
  std::array<char, 1024> buffer_;
};

}  // namespace sorrel::os
