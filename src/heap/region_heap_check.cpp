// The invariants of README.md, by a walk over all blocks.
#include "base/check.hpp"
#include "heap/region_heap.hpp"

namespace sorrel::heap {

namespace {

struct Walk {
  std::size_t free_count = 0;
  std::size_t free_bytes = 0;
  std::size_t kept_bytes = 0;
  std::size_t cached_count = 0;
  std::size_t cached_bytes = 0;
};

/// `index`: a block that the program does not use, so it may lie anywhere.
void check_block(
    Block& block, bool is_before_free, const void* index, std::size_t purge_bytes_min, Walk& walk) {
  const std::uint64_t header = block.load();
  const std::size_t size = block.size();
  SORREL_CHECK((header & Block::seal_bits) == Block::seal, "%p", block.payload());
  SORREL_CHECK(size >= block_bytes_min && size % block_alignment == 0, "%p", block.payload());
  SORREL_CHECK(block.has(Block::before_is_free) == is_before_free, "%p", block.payload());
  if (block.has(Block::in_use)) {
    SORREL_CHECK(!block.has(Block::purged));
    SORREL_CHECK(block.is_aligned_to(alignment_of(size)) || block.payload() == index, "%p",
                 block.payload());
    walk.cached_count += block.has(Block::cached) ? 1 : 0;
    walk.cached_bytes += block.has(Block::cached) ? size : 0;
    return;
  }
  SORREL_CHECK(!is_before_free && !block.has(Block::cached), "%p", block.payload());
  SORREL_CHECK(block.behind()->before == &block);
  ++walk.free_count;
  walk.free_bytes += size;
  if (size >= purge_bytes_min && !block.has(Block::purged)) walk.kept_bytes += size;
}

}  // namespace

void RegionHeap::check_invariants() const {
  if (!is_started()) return;
  Walk walk;
  for (const Span& span : spans_) {
    SORREL_CHECK(span.begin <= span.top && span.top <= span.committed_end);
    SORREL_CHECK(span.dirty_end <= span.committed_end && span.committed_end <= span.end);
    if (span.top == span.begin) continue;
    SORREL_CHECK(span.dirty_end - span.top >= 16);
    bool is_before_free = false;
    Block* block = Block::at(span.begin);
    while (block->begin() < span.top) {
      check_block(*block, is_before_free, index_, purge_bytes_min, walk);
      is_before_free = !block->has(Block::in_use);
      block = block->behind();
    }
    SORREL_CHECK(block->begin() == span.top && block->size() == 0 && !is_before_free);
  }
  SORREL_CHECK(walk.free_bytes == free_bytes_ && walk.kept_bytes == kept_bytes_);
  const std::size_t held_bytes = held_ == nullptr ? 0 : held_->size();
  SORREL_CHECK(walk.cached_bytes == cached_bytes_ + held_bytes, "%zu, %zu", walk.cached_bytes,
               cached_bytes_);
  SORREL_CHECK(walk.free_count == (index_ == nullptr ? 0 : index_->check_invariants()));
  std::size_t cached_count = 0;
  for (std::size_t number = 0; number < cache_count; ++number) {
    for (const Block* block = caches_[number]; block != nullptr;
         block = block->next, ++cached_count)
      SORREL_CHECK(block->has(Block::cached) && class_of(block->size()).number() == number &&
                   rounded_to_class(block->size()) == block->size());
  }
  if (held_ != nullptr) ++cached_count;
  SORREL_CHECK(held_ == nullptr || held_->has(Block::cached));
  SORREL_CHECK(cached_count == walk.cached_count);
}

}  // namespace sorrel::heap
