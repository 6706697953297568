#include "heap/free_index.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace sorrel::heap {

namespace {

// Looked at among blocks that may be a little too small: an exact fit often is among the blocks
// freed last, and to miss it would make the heap grow.
constexpr int exact_tries = 8;
// With an alignment, that of a line: where an aligned block fits and one with a gap may not.
constexpr std::size_t exact_classes = 2;

}  // namespace

void FreeIndex::insert(Block& block) {
  const SizeClass at = class_of(block.size());
  Block*& first = first_[at.number()];
  block.next = first;
  block.previous = nullptr;
  if (first != nullptr) first->previous = &block;
  first = &block;
  steps_[at.row] |= std::uint64_t{1} << at.step;
  rows_ |= std::uint32_t{1} << at.row;
}

void FreeIndex::remove(Block& block) {
  if (block.next != nullptr) block.next->previous = block.previous;
  if (block.previous != nullptr) {
    block.previous->next = block.next;
    return;
  }
  const SizeClass at = class_of(block.size());
  first_[at.number()] = block.next;
  if (block.next != nullptr) return;
  steps_[at.row] &= ~(std::uint64_t{1} << at.step);
  if (steps_[at.row] == 0) rows_ &= ~(std::uint32_t{1} << at.row);
}

Block* FreeIndex::find(std::size_t size, std::size_t alignment) const {
  const std::size_t front_bytes_max =
      alignment == block_alignment ? 0 : alignment + block_alignment;
  // Every block of these classes is large enough.
  SizeClass at = class_of(rounded_to_class(size + front_bytes_max));
  const std::size_t first = class_of(size).number();
  const std::size_t last = std::min(at.number(), first + exact_classes);
  for (std::size_t number = first; number < std::max(last, first + 1); ++number) {
    int tries = exact_tries;
    for (Block* block = first_[number]; block != nullptr && tries > 0; --tries) {
      if (block->size() >= size + Block::front_bytes(block->begin(), alignment)) return block;
      block = block->next;
    }
  }
  if (at.row >= row_count) return nullptr;
  std::uint64_t steps = steps_[at.row] >> at.step << at.step;
  if (steps == 0) {
    const std::uint32_t rows = at.row + 1 < row_count ? rows_ >> (at.row + 1) : 0;
    if (rows == 0) return nullptr;
    at.row += 1 + static_cast<std::size_t>(std::countr_zero(rows));
    steps = steps_[at.row];
  }
  at.step = static_cast<std::size_t>(std::countr_zero(steps));
  return first_[at.number()];
}

std::size_t FreeIndex::check_invariants() const {
  std::size_t count = 0;
  for (std::size_t row = 0; row < row_count; ++row) {
    SORREL_CHECK(((rows_ >> row & 1) != 0) == (steps_[row] != 0), "row %zu", row);
    for (std::size_t step = 0; step < (row == 0 ? exact_class_count : step_count); ++step) {
      const SizeClass at{row, step};
      const Block* previous = nullptr;
      const Block* block = first_[at.number()];
      SORREL_CHECK(((steps_[row] >> step & 1) != 0) == (block != nullptr), "row %zu, step %zu", row,
                   step);
      for (; block != nullptr; previous = block, block = block->next, ++count) {
        const SizeClass of_block = class_of(block->size());
        SORREL_CHECK(of_block.row == row && of_block.step == step);
        SORREL_CHECK(!block->has(Block::in_use) && block->previous == previous);
      }
    }
  }
  return count;
}

}  // namespace sorrel::heap
