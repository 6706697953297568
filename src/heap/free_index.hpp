//! FreeIndex - the free blocks of a heap by size class; finds one that is large enough in constant
//! time.
//!
//! A list for each class, last in first out, and bitmaps of the classes that have blocks (TLSF, see
//! size_class.hpp). All bytes zero is the empty index. Owner only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heap/size_class.hpp"

namespace sorrel::heap {

class FreeIndex {
 public:
  void insert(Block& block);
  void remove(Block& block);

  /// A block with `size` bytes behind Block::front_bytes(alignment). It stays in the index. Null:
  /// there is none, or only among the blocks behind the first few of the classes that may be a
  /// little too small.
  [[nodiscard]] Block* find(std::size_t size, std::size_t alignment) const;

  /// Calls visit(block) for every block of at least `size` bytes, the largest classes first, until
  /// it returns false. It must neither insert nor remove.
  template <class Visit>
  void visit_from(std::size_t size, Visit&& visit) const {
    const std::size_t last = class_of(size).number();
    for (std::size_t number = class_count; number-- > last;) {
      for (Block* block = first_[number]; block != nullptr; block = block->next) {
        if (block->size() >= size && !visit(*block)) return;
      }
    }
  }

  /// Fails a check if a list or a bitmap is inconsistent. Returns the number of blocks.
  [[nodiscard]] std::size_t check_invariants() const;

 private:
  static_assert(exact_class_count <= 64 && row_count <= 32);

  /// Bit r: row r has a block.
  std::uint32_t rows_ = 0;
  /// Bit s of row r: class {r, s} has a block.
  std::array<std::uint64_t, row_count> steps_{};
  std::array<Block*, class_count> first_{};
};

}  // namespace sorrel::heap
