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
/// Payloads of requests of line_request_min bytes and more are aligned to lines of the caches: the
/// distance of two is a multiple of 64, which every way of copying takes at full speed (README.md).
inline constexpr std::size_t line_alignment = 64;
inline constexpr std::size_t line_request_min = 2048;
/// A free block holds two links, and its own address for the block behind it.
inline constexpr std::size_t block_bytes_min = 32;

/// Distance from the begin of a block to that of its payload.
inline constexpr std::size_t before_payload_bytes = 16;

struct Block {
  /// The block before this one, if that is free; else the end of its payload.
  Block* before;
  /// Size and flags. The upper 16 bits are the same in all headers, so that an overwritten one is
  /// found out.
  std::uint64_t header;
  /// A free block's neighbours in a list. A cached or remotely freed block has `next` only.
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

  [[nodiscard]] void* payload() { return begin() + before_payload_bytes; }

  [[nodiscard]] std::size_t payload_bytes() const { return size() - header_bytes; }

  /// Whether the payload is a multiple of `alignment`, a power of two.
  [[nodiscard]] bool is_aligned_to(std::size_t alignment) const {
    return (reinterpret_cast<std::uintptr_t>(this) + before_payload_bytes) % alignment == 0;
  }

  /// The bytes at `begin` before the first block whose payload is a multiple of `alignment`:
  /// none, or enough for a block.
  [[nodiscard]] static std::size_t front_bytes(const std::byte* begin, std::size_t alignment) {
    const std::uintptr_t payload = reinterpret_cast<std::uintptr_t>(begin) + before_payload_bytes;
    const std::size_t misfit = -payload % alignment;
    return misfit == 0 || misfit >= block_bytes_min ? misfit : misfit + alignment;
  }

  [[nodiscard]] static Block* at(std::byte* address) { return reinterpret_cast<Block*>(address); }

  [[nodiscard]] static Block* of(void* payload) {
    return at(static_cast<std::byte*>(payload) - before_payload_bytes);
  }
};

static_assert(sizeof(Block) == block_bytes_min);

}  // namespace sorrel::heap
