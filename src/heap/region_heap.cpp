#include "heap/region_heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace sorrel::heap {

// Zero bytes are a heap.
static_assert(std::is_trivially_default_constructible_v<RegionHeap>);

namespace {

// A page of the system is this or a multiple.
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t commit_bytes_min = std::size_t{256} << 10;
constexpr std::size_t commit_bytes_max = std::size_t{64} << 20;
// Cached blocks cannot be merged: so many bytes, or 1/8 of the footprint.
constexpr std::size_t cached_bytes_least = std::size_t{256} << 10;
constexpr std::size_t cached_part = 8;
// Longer requests fit into no heap.
constexpr std::size_t request_bytes_end = std::size_t{1} << (block_bits_max - 1);
// The end of a span: `before` and header of a block of size 0.
constexpr std::size_t top_bytes = 16;

[[nodiscard]] std::byte* up(std::byte* address, std::size_t unit) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return address + ((value + unit - 1) / unit * unit - value);
}

[[nodiscard]] std::byte* down(std::byte* address, std::size_t unit) {
  return address - reinterpret_cast<std::uintptr_t>(address) % unit;
}

// Found::zero_from of a purged block.
const std::byte* const in_partial_pages = reinterpret_cast<const std::byte*>(1);

/// The whole pages of a free block, without its links and without what its end tells the next one.
struct Pages {
  std::byte* begin;
  std::byte* end;

  explicit Pages(Block& block)
      : begin(up(block.begin() + sizeof(Block), page_bytes)),
        end(down(block.begin() + block.size(), page_bytes)) {}

  [[nodiscard]] bool empty() const { return begin >= end; }
};

}  // namespace

void RegionHeap::start(const HeapMemory& memory, const HeapHooks& hooks) {
  hooks_ = &hooks;
  cached_bytes_max_ = cached_bytes_least;
  kept_bytes_max_ = memory.kept_bytes_max;
  kept_bytes_least_ = std::min(memory.kept_bytes_least, kept_bytes_max_);
  far_page_bytes_ = memory.far_page_bytes;
  // The first payload begins a line.
  std::byte* begin = up(memory.near_begin + sizeof *this + before_payload_bytes, line_alignment) -
                     before_payload_bytes;
  std::byte* near_end = memory.near_begin + memory.near_bytes;
  std::byte* middle = memory.middle_begin;
  std::byte* middle_end = middle + memory.middle_bytes;
  std::byte* far = memory.far_begin;
  spans_[0] = {begin, begin, begin, near_end, near_end};
  spans_[1] = {middle, middle, middle, middle_end, middle_end};
  spans_[2] = {far, far, far, far, far + memory.far_bytes};
  set_top(spans_[0], begin);
}

void* RegionHeap::allocate(std::size_t bytes) {
  if (bytes >= request_bytes_end) return nullptr;
  const std::size_t size = serving_size_for(bytes);
  if (size <= cached_size_max) {
    Block*& cache = caches_[class_of(size).number()];
    if (cache != nullptr) return take(*cache, cache, size);
  } else if (held_ != nullptr) {
    if (Block* block = take_held(size)) return block->payload();
  }
  Block* block = find(size, alignment_of(size)).block;
  return block == nullptr ? nullptr : block->payload();
}

void* RegionHeap::allocate_zeroed(std::size_t bytes) {
  if (block_bytes_for(std::min(bytes, cached_size_max)) <= cached_size_max) {
    void* payload = allocate(bytes);
    if (payload != nullptr) std::memset(payload, 0, bytes);
    return payload;
  }
  if (bytes >= request_bytes_end) return nullptr;
  const Found found = find(serving_size_for(bytes), line_alignment);
  if (found.block == nullptr) return nullptr;
  auto* begin = static_cast<std::byte*>(found.block->payload());
  std::byte* end = begin + bytes;
  if (found.zero_from == nullptr) {
    std::memset(begin, 0, bytes);
  } else if (found.zero_from != in_partial_pages) {
    const std::byte* dirty_end = std::min<const std::byte*>(found.zero_from, end);
    if (dirty_end > begin) std::memset(begin, 0, static_cast<std::size_t>(dirty_end - begin));
  } else {
    std::byte* pages_begin = std::min(up(begin + sizeof(Block), page_bytes), end);
    std::byte* pages_end = std::max(down(end, page_bytes), pages_begin);
    std::memset(begin, 0, static_cast<std::size_t>(pages_begin - begin));
    std::memset(pages_end, 0, static_cast<std::size_t>(end - pages_end));
  }
  return begin;
}

void* RegionHeap::allocate_aligned(std::size_t alignment, std::size_t bytes) {
  if (alignment <= block_alignment) return allocate(bytes);
  if (bytes >= request_bytes_end || alignment >= request_bytes_end) return nullptr;
  const std::size_t size = serving_size_for(bytes);
  Block* block = find(size, std::max(alignment, alignment_of(size))).block;
  return block == nullptr ? nullptr : block->payload();
}

bool RegionHeap::resize(void* payload, std::size_t bytes) {
  Block& block = *Block::of(payload);
  const std::uint64_t header = checked_header(payload);
  if (bytes >= request_bytes_end) return false;
  const std::size_t old_size = Block::size_in(header);
  const std::size_t size = serving_size_for(bytes);
  if (size <= old_size) {
    if (size < old_size) give_tail_back(block, size);
    return true;
  }
  if (!block.is_aligned_to(alignment_of(size))) return false;
  Block* next = block.behind();
  if (Span* span = span_that_ends_at(next->begin())) {
    const std::size_t missing = size - old_size;
    if (extend(*span, missing).block == nullptr) return false;
    block.set(size, header & Block::flag_bits);
    return true;
  }
  if (next->has(Block::in_use) || old_size + next->size() < size) return false;
  remove(*next);
  block.set(old_size + next->size(), header & Block::flag_bits);
  block.behind()->remove(Block::before_is_free);
  give_tail_back(block, size);
  return true;
}

void RegionHeap::release_remotely(void* payload) {
  Block& block = *Block::of(payload);
  (void)checked_header(payload);
  std::atomic_ref<Block*> remote(remote_);
  // relaxed: only a guess, which the exchange checks.
  Block* first = remote.load(std::memory_order_relaxed);
  do {
    block.next = first;
    // (R) release: publishes `next`, and what this thread did with the block, to (T).
  } while (!remote.compare_exchange_weak(first, &block, std::memory_order_release,
                                         std::memory_order_relaxed));
}

void RegionHeap::take_remote() {
  // (T) acquire: pairs with every (R) in the list, as they continue each other's release sequence.
  Block* block = std::atomic_ref(remote_).exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next = block->next;
    release(block->payload());
    block = next;
  }
}

std::size_t RegionHeap::usable_bytes(void* payload) const {
  return Block::size_in(checked_header(payload)) - header_bytes;
}

void RegionHeap::damaged(const void* payload, std::uint64_t header) const {
  Damage damage = Damage::overwritten;
  if (!Block::of(const_cast<void*>(payload))->is_aligned_to(block_alignment)) {
    damage = Damage::not_a_block;
  } else if ((header & Block::seal_bits) == Block::seal && Block::size_in(header) != 0) {
    const std::uint64_t state = header & (Block::in_use | Block::cached);
    if (state == 0 || state == (Block::in_use | Block::cached)) damage = Damage::freed_twice;
  }
  hooks_->report(this, damage, payload);
}

void RegionHeap::release_large(Block& block, std::size_t size) {
  if (size <= cached_size_max) {
    // A block that was cut may have another size than its class.
    if (rounded_to_class(size) == size) {
      put(block, block.load(), caches_[class_of(size).number()], size);
    } else {
      merge(block);
    }
    return;
  }
  const bool is_first = held_ == nullptr;
  // May change the header of this block.
  merge_held();
  if (size <= kept_bytes_max_ / 2) {
    block.add(Block::cached);
    held_ = &block;
    if (is_first) return;
  } else {
    merge(block);
  }
  if (size < purge_bytes_min) return;
  if (const std::size_t limit = kept_limit(); kept_bytes() > limit) purge(limit / 2);
}

/// The held block, if it fits a request for `size` bytes; else null.
Block* RegionHeap::take_held(std::size_t size) {
  Block& block = *held_;
  const std::size_t held_size = block.size();
  if (held_size < size || held_size - size > size / step_count) return nullptr;
  held_ = nullptr;
  block.remove(Block::cached);
  return &block;
}

void RegionHeap::merge_held() {
  if (held_ == nullptr) return;
  Block& block = *held_;
  held_ = nullptr;
  block.remove(Block::cached);
  merge(block);
}

/// Merges cached blocks, the longest first, until at most `limit` bytes are cached.
void RegionHeap::empty_caches(std::size_t limit) {
  merge_held();
  for (std::size_t number = cache_count; number-- > 0 && cached_bytes_ > limit;) {
    Block*& cache = caches_[number];
    while (cache != nullptr && cached_bytes_ > limit) {
      Block& block = *cache;
      cache = block.next;
      cached_bytes_ -= block.size();
      block.remove(Block::cached);
      merge(block);
    }
  }
}

/// A block of `size` bytes, in use, whose payload is a multiple of `alignment`.
RegionHeap::Found RegionHeap::find(std::size_t size, std::size_t alignment) {
  // relaxed: a hint. What is missed is taken at the next call.
  if (std::atomic_ref(remote_).load(std::memory_order_relaxed) != nullptr) take_remote();
  // It would be a gap between arrays.
  if (size > cached_size_max) merge_held();
  for (const bool is_last_try : {false, true}) {
    if (const Found found = split_from_index(size, alignment); found.block != nullptr) return found;
    for (Span& span : spans_) {
      const Found found = extend(span, Block::front_bytes(span.top, alignment) + size);
      if (found.block != nullptr) return {cut_front(*found.block, alignment), found.zero_from};
    }
    if (is_last_try || (cached_bytes_ == 0 && held_ == nullptr)) break;
    empty_caches(0);
  }
  return {};
}

/// Makes the bytes before the payload that is aligned a block of its own, which is free. `block` is
/// in use. Returns the block behind them.
Block* RegionHeap::cut_front(Block& block, std::size_t alignment) {
  const std::size_t front_bytes = Block::front_bytes(block.begin(), alignment);
  if (front_bytes == 0) return &block;
  const std::size_t size = block.size() - front_bytes;
  block.set(front_bytes, block.load() & Block::flag_bits);
  Block* const aligned = block.behind();
  aligned->set(size, Block::in_use);
  if (index_ == nullptr && front_bytes < exact_bytes_end) {
    // A heap that only fills caches does without an index.
    put(block, block.load(), caches_[front_bytes / block_alignment], front_bytes);
  } else {
    merge(block);
  }
  return aligned;
}

/// The rest of a block that is longer than was asked for stays free.
RegionHeap::Found RegionHeap::split_from_index(std::size_t size, std::size_t alignment) {
  if (index_ == nullptr) return {};
  Block* block = index_->find(size, alignment);
  if (block == nullptr) return {};
  const std::uint64_t flags = block->load() & Block::flag_bits;
  remove(*block);
  size += Block::front_bytes(block->begin(), alignment);
  const std::size_t rest = block->size() - size;
  if (rest < block_bytes_min) {
    block->set(block->size(), Block::in_use);
    block->behind()->remove(Block::before_is_free);
  } else {
    block->set(size, Block::in_use);
    insert(*block->behind(), rest, flags & Block::purged);
  }
  return {cut_front(*block, alignment), (flags & Block::purged) != 0 ? in_partial_pages : nullptr};
}

/// `size` bytes at the end of a span.
RegionHeap::Found RegionHeap::extend(Span& span, std::size_t size) {
  if (span.begin == span.end) return {};
  if (static_cast<std::size_t>(span.end - span.top) < top_bytes ||
      static_cast<std::size_t>(span.end - span.top) - top_bytes < size)
    return {};
  if (!commit(span, size + top_bytes)) return {};
  Block* block = Block::at(span.top);
  const std::byte* dirty_end = span.dirty_end;
  block->set(size, Block::in_use);
  set_top(span, span.top + size);
  const std::size_t bytes = footprint();
  footprint_max_ = std::max(footprint_max_, bytes);
  cached_bytes_max_ = std::max(cached_bytes_least, bytes / cached_part);
  return {block, dirty_end};
}

/// Makes `bytes` bytes from the top usable, and more if the span has grown large.
bool RegionHeap::commit(Span& span, std::size_t bytes) {
  if (static_cast<std::size_t>(span.committed_end - span.top) >= bytes) return true;
  const auto committed = static_cast<std::size_t>(span.committed_end - span.begin);
  const std::size_t spare = std::clamp(committed / 2, commit_bytes_min, commit_bytes_max);
  std::byte* needed_end = span.top + bytes;
  for (std::byte* wanted_end : {std::max(needed_end, span.committed_end + spare), needed_end}) {
    std::byte* end = std::min(up(wanted_end, far_page_bytes_), span.end);
    if (hooks_->commit(span.committed_end, static_cast<std::size_t>(end - span.committed_end))) {
      span.committed_end = end;
      return true;
    }
  }
  return false;
}

void RegionHeap::set_top(Span& span, std::byte* top) {
  span.top = top;
  span.dirty_end = std::max(span.dirty_end, top + top_bytes);
  Block::at(top)->set(0, Block::in_use);
}

RegionHeap::Span* RegionHeap::span_that_ends_at(const std::byte* address) {
  for (Span& span : spans_) {
    if (span.top == address) return &span;
  }
  return nullptr;
}

/// Cuts a block in use to `size` bytes, and frees the rest if it can be a block.
void RegionHeap::give_tail_back(Block& block, std::size_t size) {
  const std::size_t rest = block.size() - size;
  if (rest < block_bytes_min) return;
  block.set(size, block.load() & Block::flag_bits);
  Block& tail = *block.behind();
  tail.set(rest, Block::in_use);
  merge(tail);
}

/// Frees a block in use: joins it with its free neighbours or with the end of the span.
void RegionHeap::merge(Block& block) {
  Block* first = &block;
  std::size_t size = block.size();
  Block* next = block.behind();
  const std::uint64_t next_header = next->load();
  if ((next_header & Block::seal_bits) != Block::seal) damaged(next->payload(), next_header);
  if ((next_header & Block::in_use) == 0) {
    size += next->size();
    remove(*next);
  }
  if (block.has(Block::before_is_free)) {
    first = block.before;
    size += first->size();
    remove(*first);
  }
  std::byte* end = first->begin() + size;
  if (Span* span = span_that_ends_at(end)) {
    set_top(*span, first->begin());
    return;
  }
  if (index_ == nullptr && !make_index()) {
    // No memory even for that: the block is lost.
    return;
  }
  insert(*first, size, 0);
}

/// Enters a free block. Its neighbours are in use.
void RegionHeap::insert(Block& block, std::size_t size, std::uint64_t flags) {
  block.set(size, flags);
  block.behind()->before = &block;
  block.behind()->add(Block::before_is_free);
  free_bytes_ += size;
  if (size >= purge_bytes_min && (flags & Block::purged) == 0) kept_bytes_ += size;
  index_->insert(block);
}

void RegionHeap::remove(Block& block) {
  const std::uint64_t header = block.load();
  if ((header & (Block::seal_bits | Block::in_use | Block::cached)) != Block::seal)
    damaged(block.payload(), header);
  const std::size_t size = Block::size_in(header);
  free_bytes_ -= size;
  if (size >= purge_bytes_min && (header & Block::purged) == 0) kept_bytes_ -= size;
  index_->remove(block);
}

/// The index is a block of the heap, made when the first block is freed that no cache takes: heaps
/// of programs that free little do without its page.
bool RegionHeap::make_index() {
  const std::size_t size = block_bytes_for(sizeof(FreeIndex));
  for (Span& span : spans_) {
    const Found found = extend(span, size);
    if (found.block == nullptr) continue;
    index_ = static_cast<FreeIndex*>(found.block->payload());
    std::memset(static_cast<void*>(index_), 0, sizeof *index_);
    return true;
  }
  return false;
}

std::size_t RegionHeap::footprint() const {
  std::size_t bytes = 0;
  for (const Span& span : spans_) {
    // relaxed: the owner's own value, or a figure (use()).
    const std::byte* top =
        std::atomic_ref(const_cast<std::byte*&>(span.top)).load(std::memory_order_relaxed);
    bytes += static_cast<std::size_t>(top - span.begin);
  }
  return bytes;
}

std::size_t RegionHeap::kept_bytes() const {
  std::size_t bytes = kept_bytes_;
  for (const Span& span : spans_)
    bytes += static_cast<std::size_t>(span.dirty_end - span.top);
  return bytes;
}

/// How much free memory may be kept while the blocks that are in use now are.
std::size_t RegionHeap::kept_limit() const {
  if (kept_bytes_least_ == kept_bytes_max_) return kept_bytes_max_;
  const std::size_t unused = free_bytes_ + cached_bytes_ + held_bytes();
  const std::size_t all = footprint();
  return std::clamp(all > unused ? all - unused : 0, kept_bytes_least_, kept_bytes_max_);
}

/// Gives pages back until at most `limit` bytes are kept: first those at the ends of the spans,
/// then the largest blocks.
void RegionHeap::purge(std::size_t limit) {
  for (Span& span : spans_) {
    if (kept_bytes() > limit) purge_top(span);
  }
  if (index_ == nullptr) return;
  index_->visit_from(purge_bytes_min, [&](Block& block) {
    if (kept_bytes() <= limit) return false;
    purge_block(block);
    return true;
  });
}

void RegionHeap::purge_block(Block& block) {
  const Pages pages(block);
  if (block.has(Block::purged) || pages.empty()) return;
  hooks_->discard(pages.begin, static_cast<std::size_t>(pages.end - pages.begin));
  block.add(Block::purged);
  kept_bytes_ -= block.size();
}

void RegionHeap::purge_top(Span& span) {
  // It may share a large page with the parts of other heaps.
  if (static_cast<std::size_t>(span.end - span.begin) < purge_bytes_min) return;
  std::byte* begin = up(span.top + top_bytes, page_bytes);
  std::byte* end = up(span.dirty_end, page_bytes);
  if (begin >= end) return;
  hooks_->discard(begin, static_cast<std::size_t>(end - begin));
  span.dirty_end = begin;
}

void RegionHeap::trim() {
  if (!is_started()) return;
  take_remote();
  empty_caches(0);
  purge(0);
}

std::size_t RegionHeap::held_bytes() const {
  // relaxed: of another thread's heap only a figure. The memory of a block stays readable.
  Block* held = std::atomic_ref(const_cast<Block*&>(held_)).load(std::memory_order_relaxed);
  return held == nullptr ? 0 : held->size();
}

HeapUse RegionHeap::use() const {
  if (!is_started()) return {};
  const auto now = [](const std::size_t& value) {
    // relaxed: as in held_bytes().
    return std::atomic_ref(const_cast<std::size_t&>(value)).load(std::memory_order_relaxed);
  };
  HeapUse use{.cached = now(cached_bytes_) + held_bytes(),
              .free = now(free_bytes_),
              .footprint = footprint(),
              .footprint_max = now(footprint_max_),
              .kept = kept_bytes()};
  const std::size_t unused = use.free + use.cached;
  use.in_use = use.footprint > unused ? use.footprint - unused : 0;
  return use;
}

}  // namespace sorrel::heap
