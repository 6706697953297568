//! FixedText - builds a line in its own memory, for signal handlers.
//!
//! Never allocates and takes no lock; truncates. `text()` and `c_str()` are valid until the next
//! call.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sorrel {

template <std::size_t capacity>
class FixedText {
 public:
  FixedText& add(std::string_view text) {
    const std::size_t count = std::min(text.size(), capacity - 1 - size_);
    std::memcpy(bytes_.data() + size_, text.data(), count);
    size_ += count;
    bytes_[size_] = '\0';
    return *this;
  }

  FixedText& add(std::integral auto number) { return add_digits(number, 10); }

  FixedText& add_hex(std::uint64_t number) { return add("0x").add_digits(number, 16); }

  void clear() {
    size_ = 0;
    bytes_[0] = '\0';
  }

  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

  [[nodiscard]] const char* c_str() const { return bytes_.data(); }

  [[nodiscard]] bool is_empty() const { return size_ == 0; }

 private:
  FixedText& add_digits(auto number, int base) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  std::size_t size_ = 0;
  std::array<char, capacity> bytes_{};
};

}  // namespace sorrel
