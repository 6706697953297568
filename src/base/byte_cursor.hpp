//! ByteCursor - reads numbers and texts from bytes that may be damaged: past the end it returns
//! zeros, and is_good() is false.
//!
//! Never allocates. Numbers are in this machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sorrel {

class ByteCursor {
 public:
  ByteCursor() = default;

  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// False after a read past the end.
  [[nodiscard]] bool is_good() const { return is_good_; }

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  template <class Number>
  Number take() {
    Number number{};
    if (!has(sizeof number)) return number;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_ = bytes_.subspan(sizeof number);
    return number;
  }

  std::uint64_t take_uleb() { return take_leb().value; }

  std::int64_t take_sleb() {
    const Leb leb = take_leb();
    const bool is_negative = leb.bits < 64 && (leb.last_byte & 0x40) != 0;
    return static_cast<std::int64_t>(is_negative ? leb.value | ~std::uint64_t{0} << leb.bits
                                                 : leb.value);
  }

  /// A text that ends in a zero byte; valid as long as the bytes.
  const char* take_text() {
    const auto* end = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
    if (end == nullptr) {
      fail();
      return "";
    }
    const auto* text = reinterpret_cast<const char*>(bytes_.data());
    bytes_ = bytes_.subspan(static_cast<std::size_t>(static_cast<const char*>(end) - text) + 1);
    return text;
  }

  /// What ByteWriter::add_block() has written; valid as long as the bytes.
  std::string_view take_block() {
    const ByteCursor block = take_part(take<std::uint64_t>());
    return {reinterpret_cast<const char*>(block.bytes_.data()), block.bytes_.size()};
  }

  void skip(std::uint64_t count) { (void)take_part(count); }

  /// A cursor over the next `count` bytes, which this cursor skips.
  ByteCursor take_part(std::uint64_t count) {
    if (!has(count)) return {};
    const auto part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(part.size());
    return ByteCursor(part);
  }

 private:
  struct Leb {
    std::uint64_t value = 0;
    unsigned bits = 0;
    unsigned last_byte = 0;
  };

  Leb take_leb() {
    Leb leb;
    do {
      leb.last_byte = take<std::uint8_t>();
      if (leb.bits < 64) leb.value |= std::uint64_t{leb.last_byte & 0x7f} << leb.bits;
      leb.bits += 7;
    } while ((leb.last_byte & 0x80) != 0 && is_good_);
    return leb;
  }

  bool has(std::uint64_t count) {
    if (count > bytes_.size()) fail();
    return is_good_;
  }

  void fail() {
    is_good_ = false;
    bytes_ = {};
  }

  std::span<const std::byte> bytes_;
  bool is_good_ = true;
};

}  // namespace sorrel
