//! ProtoMessage - one message in the encoding of protocol buffers
//! (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::tool {

class ProtoMessage {
 public:
  ProtoMessage& number(std::uint32_t field, std::uint64_t value) {
    add_varint(field << 3);
    add_varint(value);
    return *this;
  }

  ProtoMessage& fixed(std::uint32_t field, std::uint64_t value) {
    add_varint(field << 3 | 1);
    for (int byte = 0; byte < 8; ++byte)
      bytes_ += static_cast<char>(value >> 8 * byte & 0xff);
    return *this;
  }

  ProtoMessage& text(std::uint32_t field, std::string_view value) {
    add_varint(field << 3 | 2);
    add_varint(value.size());
    bytes_ += value;
    return *this;
  }

  ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) {
    return text(field, value.bytes_);
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace sorrel::tool
