//! ProtoFields - the fields of one message in the encoding of protocol buffers, one after the
//! other. ProtoMessage writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sorrel::tool {

class ProtoFields {
 public:
  explicit ProtoFields(std::string_view message) : rest_(message) {}

  /// Reads the next field. False at the end, and where the bytes are not a message or are cut off.
  bool next() {
    if (rest_.empty()) return false;
    is_damaged_ = true;
    std::uint64_t key = 0;
    if (!read_varint(key)) return false;
    number = static_cast<std::uint32_t>(key >> 3);
    bytes = {};
    switch (key & 7) {
      case 0:
        if (!read_varint(value)) return false;
        break;
      case 1:
        if (!read_fixed(8)) return false;
        break;
      case 2:
        if (!read_varint(value) || value > rest_.size()) return false;
        bytes = rest_.substr(0, value);
        rest_.remove_prefix(value);
        break;
      case 5:
        if (!read_fixed(4)) return false;
        break;
      default:
        return false;
    }
    is_damaged_ = false;
    return true;
  }

  /// After next() was false: whether that was not the end of the message.
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  // The field that was read.
  std::uint32_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;

 private:
  bool read_varint(std::uint64_t& to) {
    constexpr int bits_max = 64;
    to = 0;
    for (int shift = 0; shift < bits_max && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      to |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool read_fixed(std::size_t byte_count) {
    if (rest_.size() < byte_count) return false;
    value = 0;
    for (std::size_t i = 0; i < byte_count; ++i)
      value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << 8 * i;
    rest_.remove_prefix(byte_count);
    return true;
  }

  std::string_view rest_;
  bool is_damaged_ = false;
};

}  // namespace sorrel::tool
