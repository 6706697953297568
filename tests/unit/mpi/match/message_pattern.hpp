//! Bytes that identify their message, for tests of point-to-point messages.
#pragma once

#include <cstddef>
#include <vector>

namespace sorrel::test {

using Bytes = std::vector<unsigned char>;

/// `bytes` bytes that depend on `key`, and a zero that no message may touch.
inline Bytes pattern(int key, int bytes) {
  Bytes data(static_cast<std::size_t>(bytes) + 1);
  for (std::size_t i = 0; i + 1 < data.size(); ++i)
    data[i] = static_cast<unsigned char>(static_cast<std::size_t>(key) * 7 + i * 31);
  return data;
}

}  // namespace sorrel::test
