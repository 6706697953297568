//! Common parts of the reductions: operands, and scratch space for typed elements.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi/collectives/collectives.hpp"

namespace sorrel::mpi {

/// The published operand of a member: its buffer, and the buffer of its result.
struct Operands {
  const void* input;
  void* output;
};

/// A run of elements.
struct ElementRange {
  std::size_t first;
  std::size_t count;
};

/// Space for `count` elements of a type, addressed like a user's buffer of that type.
class Scratch {
 public:
  Scratch(std::size_t count, const Datatype& type);

  [[nodiscard]] void* buffer() const { return base_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  void* base_;
};

/// The address of element `index` of a user's buffer.
void* element_at(const void* buffer, std::size_t index, const Datatype& type);

/// Copies elements between two buffers of the same type.
void copy_elements(const void* from, void* to, std::size_t count, const Datatype& type);

/// result = left op right for `count` elements; the result may be the right operand. A user's
/// function may call MPI: the record of the rank's call, by which reports name it, stays as it is.
void combine(const ReductionArguments& arguments,
             const void* left,
             const void* right,
             void* result,
             std::size_t count);

/// Elements folded at a time: both operands stay in the first-level cache.
std::size_t chunk_element_count(const Datatype& type);

/// Part `index` of `count` elements in `parts` even parts.
[[nodiscard]] ElementRange even_part(std::size_t count, std::int32_t index, std::int32_t parts);

}  // namespace sorrel::mpi
