//! RankHeaps - the heaps of the ranks of this process: their addresses, and whose a call or a block
//! is.
//!
//! begin() reserves the addresses, before any rank runs; afterwards everything here is constant
//! and for any thread, also in a signal handler. A heap itself belongs to the code that runs on its
//! rank's own stack (README.md): at most one flow of control at a time is there, whatever thread it
//! is on. Threads that the rank starts share it (heap_sharing.hpp). Ranks that allocate nothing
//! have no page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "heap/region_heap.hpp"
#include "os/shared_library_call.hpp"
#include "os/stack_slab.hpp"
#include "os/touched_pages.hpp"
#include "program/image/image_slab.hpp"

namespace sorrel::program {

struct HeapSharing;

/// What ends the job because a rank has damaged a heap. `index`: the rank, among those of this
/// process, to which the heap belongs. Does not return.
using HeapDamageHandler = void (*)(int index, heap::Damage damage, const void* address);

class RankHeaps {
 public:
  struct Options {
    /// For the heaps of all ranks of the job, whose number is `rank_count`.
    os::AddressBand band;
    std::size_t rank_count;
    /// Free memory of a rank beyond this is given back to the system.
    std::size_t kept_bytes_max;
    /// Also beyond what the rank uses, but for this much, if it is less.
    std::size_t kept_bytes_least;
    /// Memory of a rank that no block uses, because large pages hold it, may be this much.
    std::size_t unused_bytes_max;
    /// A number for each rank of this process: those with different numbers share no large page.
    /// Empty: any may. Read by begin() alone.
    std::span<const int> page_groups;
    HeapDamageHandler on_damage;
  };

  /// Reserves a region for each rank of `slab`, whose stacks are `stacks`, in the band if that is
  /// possible. Once. Does nothing if
  /// the ranks are to use the C library's heap: reason_for_none() tells why.
  void begin(const ImageSlab& slab, const os::StackSlab& stacks, const Options& options);

  /// Why ranks use the C library's heap; null if they have their own.
  [[nodiscard]] const char* reason_for_none() const { return reason_for_none_; }

  /// Whether regions lie in the band, so that a rank's has the same addresses in every process.
  [[nodiscard]] bool are_in_band() const { return are_in_band_; }

  /// The index of the rank on whose stack an address lies; count() or more: on no rank's stack.
  [[nodiscard, gnu::always_inline]] std::uint64_t index_of_stack(std::uintptr_t address) const {
    // The quotient of two numbers of pages, by a reciprocal that is rounded up. It is exact where
    // their product is below 2^64, as it is for all stacks, and never too small beyond.
    const std::uint64_t page = (address - stacks_begin_) / page_bytes;
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(page) * reciprocal_) >> 64);
  }

  /// Whether `caller`, a return address, lies in code of a rank, not in one that serves all ranks.
  [[nodiscard, gnu::always_inline]] bool is_code_of_rank(const void* caller) const {
    const auto code = reinterpret_cast<std::uintptr_t>(caller);
    return code - code_begin_ < code_bytes_ || code - cxx_begin_ < cxx_bytes_ ||
           (code - libc_begin_ < libc_bytes_ && !os::SharedLibraryCall::is_in_progress()) ||
           is_in_opened_library(caller);
  }

  /// From here on the C library allocates in the heap of the rank that calls it, too: what it
  /// returns to the rank is then saved and restored with the rank. But for os::SharedLibraryCall.
  /// Before any rank runs.
  /// `is_in_fiber`: whether the calling thread runs a fiber, of a rank or for one.
  void include_libc(bool (*is_in_fiber)());

  /// After include_libc(): code of a rank is about to get memory of the C library's heap, since it
  /// is neither on the rank's own stack nor in a thread of the rank. Any thread.
  void note_call_elsewhere() const;

  [[nodiscard]] bool notes_calls_elsewhere() const { return is_in_fiber_ != nullptr; }

  /// Whether there was such a call by a fiber: a rank may have memory that is not in its heap.
  /// While no rank runs.
  [[nodiscard]] static bool was_called_elsewhere();

  /// What is not zero of a rank's region. While the rank does not run.
  [[nodiscard]] std::array<os::MemoryRange, 3> written_parts(std::uint64_t index) const;

  /// The rank has gone to another process: its heap is as if it had never been used.
  void clear(std::uint64_t index) const;

  /// The rank has ended, and its threads: the next one with this index begins with an empty heap.
  void end_rank(std::uint64_t index) const;

  /// Bytes of a rank's last part that are usable. While the rank does not run.
  [[nodiscard]] std::size_t far_usable_bytes(std::uint64_t index) const;

  /// Before the rank runs: makes as many bytes of its last part usable as it once had.
  [[nodiscard]] bool open_far_part(std::uint64_t index, std::size_t bytes) const;

  /// A block of the rank's heap, for a caller on its stack; null: no memory, or no rank.
  [[nodiscard]] void* allocate_for_rank(std::size_t alignment, std::size_t bytes) const;

  /// Whether a region has this address.
  [[nodiscard, gnu::always_inline]] bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - near_begin_ < bytes_;
  }

  /// The index of the rank whose region has this address; contains() holds.
  [[nodiscard, gnu::always_inline]] std::uint64_t owner_of(const void* address) const {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - near_begin_;
    if (offset < near_bytes_) return offset >> near_bits;
    const std::uintptr_t behind = offset - middle_offset_;
    return behind < middle_bytes_ ? behind >> middle_bits : (offset - far_offset_) >> far_bits_;
  }

  [[nodiscard, gnu::always_inline]] heap::RegionHeap& heap_of(std::uint64_t index) const {
    return *reinterpret_cast<heap::RegionHeap*>(begin_of(index));
  }

  /// By the rank itself, at its first request.
  void start(heap::RegionHeap& heap) const;

  /// How threads share a heap of this process.
  [[nodiscard]] HeapSharing& sharing_of(const heap::RegionHeap& heap) const;

  /// Whether the rank has, or had, memory of the C library's heap because its own was full. While
  /// the rank does not run.
  [[nodiscard]] bool has_overflowed(std::uint64_t index) const;

  /// What a rank's heap has at this moment. Any thread.
  [[nodiscard]] heap::HeapUse use_of(std::uint64_t index) const;

  /// 0 if ranks use the C library's heap.
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Addresses of a rank's region behind its first two parts.
  [[nodiscard]] std::size_t far_bytes() const { return std::size_t{1} << far_bits_; }

 private:
  /// Addresses for the heaps of `count` ranks, of which those of this process begin with number
  /// `first`; `begin` is 0 if any will do.
  struct Reservation {
    std::uintptr_t begin;
    std::size_t bytes_max;
    std::size_t count;
    std::size_t first;
  };

  /// The first parts of all regions lie side by side, in large pages if there are enough of them.
  static constexpr int near_bits = 14;
  /// The second parts too: no call of the system, no memory map, and a few ranks share a large
  /// page.
  static constexpr int middle_bits = 18;
  static constexpr std::size_t page_bytes = 4096;
  /// Parts begin at different lines or pages, or those of all ranks would compete for the same sets
  /// of the caches.
  static constexpr std::size_t near_colors = 16;
  static constexpr std::size_t near_color_bytes = 64;
  static constexpr std::size_t middle_colors = 32;
  static constexpr std::size_t far_colors = 64;
  /// Second and last parts begin so that the payload of their first block begins a line.
  static constexpr std::size_t part_offset = heap::line_alignment - heap::before_payload_bytes;

  [[nodiscard, gnu::always_inline]] std::uintptr_t begin_of(std::uint64_t index) const {
    // The color follows from the address, so it is the same in every process.
    const std::uintptr_t slot = near_begin_ + (index << near_bits);
    return slot + (slot >> near_bits) % near_colors * near_color_bytes;
  }

  [[nodiscard]] std::uintptr_t middle_begin_of(std::uint64_t index) const {
    return near_begin_ + middle_offset_ + (index << middle_bits) +
           (first_ + index) % middle_colors * page_bytes + part_offset;
  }

  /// Where addresses of a rank's last part begin: at a large page.
  [[nodiscard]] std::uintptr_t far_slot_of(std::uint64_t index) const {
    return near_begin_ + far_offset_ + (index << far_bits_);
  }

  [[nodiscard]] std::uintptr_t far_begin_of(std::uint64_t index) const {
    return far_slot_of(index) + (first_ + index) % far_colors * page_bytes + part_offset;
  }

  [[nodiscard]] static bool is_in_opened_library(const void* caller);
  [[nodiscard]] bool reserve(std::size_t count);
  [[nodiscard]] bool reserve_at(const Reservation& reservation, std::size_t count);
  [[nodiscard]] bool open_parts(std::size_t count) const;
  void separate_groups(const os::MemoryRange& range, std::uintptr_t parts, int part_bits) const;
  void find_cxx_library();
  static os::MemoryRange code_of_library(std::string_view name);
  [[nodiscard]] const char* find_reason_for_none(const ImageSlab& slab) const;
  [[nodiscard]] bool has_large_far_parts() const;
  static bool commit(std::byte* begin, std::size_t bytes);
  static void discard(std::byte* begin, std::size_t bytes);
  static void report(const void* heap, heap::Damage damage, const void* address);

  static const heap::HeapHooks hooks;

  // All zero: no address is in a region, and no rank has a stack.
  std::uint64_t count_ = 0;
  std::uintptr_t stacks_begin_ = 0;
  std::uint64_t reciprocal_ = 0;
  std::uintptr_t code_begin_ = 0;
  std::uintptr_t code_bytes_ = 0;
  /// Code of a C++ library that ranks share.
  std::uintptr_t cxx_begin_ = 0;
  std::uintptr_t cxx_bytes_ = 0;
  /// Code of the C library, after include_libc().
  std::uintptr_t libc_begin_ = 0;
  std::uintptr_t libc_bytes_ = 0;
  bool (*is_in_fiber_)() = nullptr;
  /// The regions of this process's ranks: where the first begins, and its parts' distances. Between
  /// them may lie parts of other processes' ranks, which are reserved here.
  std::uintptr_t near_begin_ = 0;
  std::size_t near_bytes_ = 0;
  std::size_t middle_offset_ = 0;
  std::size_t middle_bytes_ = 0;
  std::size_t far_offset_ = 0;
  /// Size from the first part of the first rank to the last part of the last one.
  std::size_t bytes_ = 0;
  /// The number in the band of this process's first rank.
  std::uint64_t first_ = 0;
  bool are_in_band_ = false;
  int far_bits_ = 0;
  Options options_{};
  /// For each rank. Pages that no rank with threads uses are never touched.
  HeapSharing* sharing_ = nullptr;
  const char* reason_for_none_ = "no rank has begun";
};

/// The heaps of this process. Without constructor: malloc is called before any has run.
[[nodiscard]] inline RankHeaps& rank_heaps() {
  static constinit RankHeaps heaps;
  return heaps;
}

}  // namespace sorrel::program
