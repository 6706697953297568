//! DataSpan - where the data of elements of a datatype lies, from its first to its last byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// Bytes from an address on, [begin, end).
struct DataSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::uintptr_t begin_at(std::uintptr_t address) const {
    return address + static_cast<std::uintptr_t>(begin);
  }

  [[nodiscard]] std::uintptr_t end_at(std::uintptr_t address) const {
    return address + static_cast<std::uintptr_t>(end);
  }
};

/// That of `count` elements, at least one, from the address of the buffer on.
[[nodiscard]] inline DataSpan span_of(const Datatype& type, std::size_t count) {
  const std::int64_t last = static_cast<std::int64_t>(count - 1) * type.extent();
  return {.begin = type.true_lb() + std::min<std::int64_t>(last, 0),
          .end = type.true_lb() + type.true_extent() + std::max<std::int64_t>(last, 0)};
}

}  // namespace sorrel::mpi
