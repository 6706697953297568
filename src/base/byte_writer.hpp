//! ByteWriter - writes numbers and texts that ByteCursor reads.
//!
//! Numbers are in this machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sorrel {

class ByteWriter {
 public:
  template <class Number>
  void add(const Number& number) {
    static_assert(std::is_trivially_copyable_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  /// For ByteCursor::take_block().
  void add_block(std::string_view block) {
    add(std::uint64_t{block.size()});
    bytes_.append(block);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace sorrel
