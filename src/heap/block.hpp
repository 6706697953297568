//! Block - the unit of a heap: what one call of malloc returns, or free memory.
//!
//! Blocks fill a span without gaps. A block in use has 8 bytes beside its payload: the header. Its
//! payload reaches into the first word of the next block, which has a meaning only while the block
//! before it is free ("boundary tags": Knuth, The Art of Computer Programming 1, 2.5).
//!
//! Only the owner of the heap writes headers. Other threads may read that of a block in use, so
//! headers are accessed by relaxed atomic operations: what a block holds is passed from thread to
//! thread by the program or by RegionHeap's remote list, never by a header.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sorrel::heap {

/// Sizes of blocks, and addresses of payloads, are multiples of it.
inline constexpr std::size_t block_alignment = 16;
inline constexpr std::size_t header_bytes = 8;
/// A free block holds two links, and its own address for the block behind it.
inline constexpr std::size_t block_bytes_min = 32;

struct Block {
  /// The block before this one, if that is free; else the end of its payload.
  Block* before;
  /// Size and flags. The upper 16 bits are the same in all headers, so that an overwritten one is
  /// found out.
  std::uint64_t header;
  /// Of a free block: its neighbours in a list. `next` only, of a cached or remotely freed block.
  Block* next;
  Block* previous;

  enum Flag : std::uint64_t {
    in_use = 1,          ///< Not free. The end of a span counts as a block in use of size 0.
    before_is_free = 2,  ///< `before` is valid.
    cached = 4,          ///< In use as far as neighbours are concerned, but in a cache.
    purged = 8,          ///< Free, and its whole pages are zero and not resident.
  };

  static constexpr std::uint64_t flag_bits = 15;
  static constexpr std::uint64_t seal = std::uint64_t{0x9e5b} << 48;
  static constexpr std::uint64_t seal_bits = std::uint64_t{0xffff} << 48;

  [[nodiscard]] std::uint64_t load() const {
    return std::atomic_ref(const_cast<std::uint64_t&>(header)).load(std::memory_order_relaxed);
  }

  void store(std::uint64_t value) {
    std::atomic_ref(header).store(value, std::memory_order_relaxed);
  }

  void set(std::size_t size, std::uint64_t flags) { store(seal | size | flags); }

  void add(Flag flag) { store(load() | flag); }

  void remove(Flag flag) { store(load() & ~std::uint64_t{flag}); }

  [[nodiscard]] bool has(Flag flag) const { return (load() & flag) != 0; }

  [[nodiscard]] static std::size_t size_in(std::uint64_t header) {
    return header & ~(seal_bits | flag_bits);
  }

  /// Whether a header is that of a block that a program may free.
  [[nodiscard]] static bool is_releasable(std::uint64_t header) {
    return (header & (seal_bits | in_use | cached | purged)) == (seal | in_use);
  }

  [[nodiscard]] std::size_t size() const { return size_in(load()); }

  [[nodiscard]] std::byte* begin() { return reinterpret_cast<std::byte*>(this); }

  [[nodiscard]] Block* behind() { return at(begin() + size()); }

  [[nodiscard]] void* payload() { return begin() + sizeof before + header_bytes; }

  [[nodiscard]] std::size_t payload_bytes() const { return size() - header_bytes; }

  [[nodiscard]] static Block* at(std::byte* address) { return reinterpret_cast<Block*>(address); }

  [[nodiscard]] static Block* of(void* payload) {
    return at(static_cast<std::byte*>(payload) - sizeof before - header_bytes);
  }
};

static_assert(sizeof(Block) == block_bytes_min);

}  // namespace sorrel::heap
