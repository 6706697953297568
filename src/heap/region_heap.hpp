//! RegionHeap - a heap whose whole state lies in the memory that it divides.
//!
//! The object is the begin of that memory, and zero bytes are a heap that has not been started.
//! One flow of control at a time owns it: only that one may call, except release_remotely() and
//! use(), which are for any thread, and the constant queries. While the heap is shared, several
//! flows may call, under a lock of theirs. No function suspends, locks, or reads a clock. See
//! README.md for layout, invariants and bounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "heap/block.hpp"
#include "heap/free_index.hpp"
#include "heap/size_class.hpp"

namespace sorrel::heap {

enum class Damage : std::uint8_t {
  overwritten,  ///< A header was written by something else, or no block begins at the address.
  freed_twice,  ///< The block is free.
  not_a_block,  ///< The address is not aligned as those of blocks are.
};

/// What a heap needs of the system. Constant, at the same address as long as the heap is used.
struct HeapHooks {
  /// Makes pages usable; they read as zero. False: no memory.
  bool (*commit)(std::byte* begin, std::size_t bytes);
  /// Gives pages back; they are usable and read as zero afterwards.
  void (*discard)(std::byte* begin, std::size_t bytes);
  /// The program has damaged the heap. Does not return.
  void (*report)(const void* heap, Damage damage, const void* address);
};

/// The memory of a heap, in the order in which it is used. The parts begin at multiples of
/// block_alignment and end at pages.
struct HeapMemory {
  /// Usable at once. Holds the heap's state, and blocks behind it.
  std::byte* near_begin = nullptr;
  std::size_t near_bytes = 0;
  /// Usable at once; may be empty.
  std::byte* middle_begin = nullptr;
  std::size_t middle_bytes = 0;
  /// Made usable as the heap grows; may be empty.
  std::byte* far_begin = nullptr;
  std::size_t far_bytes = 0;
  /// It is made usable up to multiples of this address: the page of the system that it lies in.
  std::size_t far_page_bytes = 4096;
  /// Free memory beyond this is given back, but for parts shorter than RegionHeap::purge_bytes_min.
  std::size_t kept_bytes_max = 0;
  /// If it is less: also free memory beyond what is in use, but for this much.
  std::size_t kept_bytes_least = kept_bytes_max;
};

/// Sums of bytes; headers count as part of their blocks.
struct HeapUse {
  std::size_t in_use = 0;  ///< Blocks of the program, and 4 KiB for the index.
  std::size_t cached = 0;  ///< Freed, kept for a request of the same size.
  std::size_t free = 0;    ///< Free blocks.
  std::size_t footprint =
      0;  ///< The sum of these: addresses handed out so far, less what came back at the end.
  std::size_t footprint_max = 0;  ///< The largest footprint so far.
  std::size_t kept = 0;           ///< Freed and not given back, in long pieces only.
};

class RegionHeap {
 public:
  /// Shorter free blocks are not given back.
  static constexpr std::size_t purge_bytes_min = std::size_t{64} << 10;

  [[nodiscard]] bool is_started() const { return hooks_ != nullptr; }

  /// Once. `memory.near_begin` is the address of this object.
  void start(const HeapMemory& memory, const HeapHooks& hooks);

  /// Whether the owner must take the lock, too. Only the owner asks. Also before start().
  [[nodiscard, gnu::always_inline]] bool is_shared() const { return call_count_ < 0; }

  /// By the owner, before the first other flow of control calls, and after the last one has.
  void set_shared(bool is_shared) {
    call_count_ = is_shared ? std::numeric_limits<std::int64_t>::min() : 0;
  }

  /// is_shared() at the begin of a request. It writes, because the first write makes a page of the
  /// heap at once where a read would first map a page of zeros.
  [[nodiscard, gnu::always_inline]] bool count_request() { return ++call_count_ < 0; }

  /// malloc for small requests. Null: call allocate(). Also before start().
  [[nodiscard, gnu::always_inline]] void* allocate_cached(std::size_t bytes) {
    if (bytes > small_request_max) return nullptr;
    const std::size_t size = block_bytes_for(bytes);
    Block* block = caches_[size / block_alignment];
    if (block == nullptr) return nullptr;
    return take(*block, caches_[size / block_alignment], size);
  }

  /// A block with a payload of at least `bytes` bytes, aligned to 16, or to line_alignment from
  /// line_request_min bytes on; null: no memory, the request is larger than the heap, or the heap
  /// has not been started.
  [[nodiscard]] void* allocate(std::size_t bytes);

  /// As allocate(); the payload is zero.
  [[nodiscard]] void* allocate_zeroed(std::size_t bytes);

  /// As allocate(); the payload also begins at a multiple of `alignment`, a power of two.
  [[nodiscard]] void* allocate_aligned(std::size_t alignment, std::size_t bytes);

  /// Makes a block of this heap larger or smaller where it lies. False: it is as it was. A block
  /// that would have to be aligned to a line, and is not, stays as it was.
  [[nodiscard]] bool resize(void* payload, std::size_t bytes);

  /// Frees a block of this heap. While it is shared, blocks are freed by release_remotely().
  [[gnu::always_inline]] void release(void* payload) {
    Block& block = *Block::of(payload);
    const std::uint64_t header = checked_header(payload);
    const std::size_t size = Block::size_in(header);
    if (size >= exact_bytes_end) {
      release_large(block, size);
      return;
    }
    put(block, header, caches_[size / block_alignment], size);
  }

  /// Frees a block of this heap. Any thread. Lock-free. The owner takes it back at its next
  /// request that no cache answers.
  void release_remotely(void* payload);

  /// Bytes that the owner of a block in use may write. Any thread.
  [[nodiscard]] std::size_t usable_bytes(void* payload) const;

  /// Merges all cached blocks with their neighbours, and gives all free memory back.
  void trim();

  /// Any thread. While the owner changes the heap, the figures may be of different moments.
  [[nodiscard]] HeapUse use() const;

  /// Bytes of a part, 0 to 2, before the first that was never written.
  [[nodiscard]] std::size_t written_bytes(std::size_t part) const {
    return static_cast<std::size_t>(spans_[part].dirty_end - spans_[part].begin);
  }

  /// Bytes of the last part that are usable.
  [[nodiscard]] std::size_t far_usable_bytes() const {
    const Span& far = spans_.back();
    return static_cast<std::size_t>(far.committed_end - far.begin);
  }

  /// Walks all memory; fails a check if it is inconsistent.
  void check_invariants() const;

 private:
  static constexpr std::size_t small_request_max = exact_bytes_end - block_alignment - header_bytes;
  static constexpr std::size_t cache_count = exact_class_count + 5 * step_count + 1;
  static constexpr std::size_t span_count = 3;

  /// A piece of memory: blocks from `begin` to `top`, and what was not used yet.
  struct Span {
    std::byte* begin;
    /// A block of size 0 in use. Nothing free lies immediately before it.
    std::byte* top;
    /// From here on all bytes are zero.
    std::byte* dirty_end;
    std::byte* committed_end;
    std::byte* end;
  };

  /// In two registers.
  struct Found {
    Block* block;
    /// From here on the payload is zero; in_partial_pages: all its whole pages are, but for the
    /// first 16 bytes; null: nothing is known.
    const std::byte* zero_from;
  };

  /// The header of a block that the program may free or ask about.
  [[gnu::always_inline]] std::uint64_t checked_header(void* payload) const {
    const Block& block = *Block::of(payload);
    const std::uint64_t header = block.load();
    if (!Block::is_releasable(header) || !block.is_aligned_to(block_alignment)) [[unlikely]]
      damaged(payload, header);
    return header;
  }

  /// The first block of a cache, for the program.
  [[gnu::always_inline]] void* take(Block& block, Block*& cache, std::size_t size) {
    cache = block.next;
    cached_bytes_ -= size;
    block.remove(Block::cached);
    return block.payload();
  }

  [[gnu::always_inline]] void put(Block& block,
                                  std::uint64_t header,
                                  Block*& cache,
                                  std::size_t size) {
    block.store(header | Block::cached);
    block.next = cache;
    cache = &block;
    cached_bytes_ += size;
    if (cached_bytes_ > cached_bytes_max_) [[unlikely]]
      empty_caches(cached_bytes_max_ / 2);
  }

  void damaged(const void* payload, std::uint64_t header) const;
  void release_large(Block& block, std::size_t size);
  [[nodiscard]] Block* take_held(std::size_t size);
  void merge_held();
  void empty_caches(std::size_t limit);
  void take_remote();
  [[nodiscard]] Found find(std::size_t size, std::size_t alignment);
  [[nodiscard]] Found split_from_index(std::size_t size, std::size_t alignment);
  [[nodiscard]] Block* cut_front(Block& block, std::size_t alignment);
  [[nodiscard]] Found extend(Span& span, std::size_t size);
  [[nodiscard]] bool commit(Span& span, std::size_t bytes);
  void set_top(Span& span, std::byte* top);
  [[nodiscard]] Span* span_that_ends_at(const std::byte* address);
  void give_tail_back(Block& block, std::size_t size);
  void merge(Block& block);
  void insert(Block& block, std::size_t size, std::uint64_t flags);
  void remove(Block& block);
  [[nodiscard]] bool make_index();
  [[nodiscard]] std::size_t footprint() const;
  [[nodiscard]] std::size_t held_bytes() const;
  [[nodiscard]] std::size_t kept_bytes() const;
  [[nodiscard]] std::size_t kept_limit() const;
  void purge(std::size_t limit);
  void purge_block(Block& block);
  void purge_top(Span& span);

  /// Number of the owner's requests; negative while the heap is shared.
  std::int64_t call_count_;
  std::size_t cached_bytes_;
  std::size_t cached_bytes_max_;
  const HeapHooks* hooks_;
  std::array<Block*, cache_count> caches_;
  std::array<Span, span_count> spans_;
  FreeIndex* index_;
  /// The long block that was freed last, not merged: programs often ask for the same size again.
  Block* held_;
  std::size_t free_bytes_;
  std::size_t kept_bytes_;
  std::size_t kept_bytes_max_;
  std::size_t kept_bytes_least_;
  std::size_t far_page_bytes_;
  std::size_t footprint_max_;
  /// Blocks that other threads have freed, through Block::next.
  alignas(64) Block* remote_;
};

}  // namespace sorrel::heap
