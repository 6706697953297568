//! Lists and pointers in records. Pointers are to a rank's memory, which has the same addresses in
//! every process.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "base/copy_bytes.hpp"

namespace sorrel::mpi {

template <class T>
void add_list(ByteWriter& to, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  to.add_block({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

template <class T>
[[nodiscard]] std::vector<T> take_list(ByteCursor& from) {
  const std::string_view block = from.take_block();
  std::vector<T> values(block.size() / sizeof(T));
  copy_bytes(values.data(), block.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace sorrel::mpi
