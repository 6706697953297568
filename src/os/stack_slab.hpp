//! StackSlab - the stacks of all fibers of a process in one reserved, lazily committed range of
//! addresses.
//!
//! A guard lies below each stack, and one above the last. It is as large as the stack, at least 64
//! KiB and at most 256 KiB, so that a frame smaller than it cannot step over it. Guards are
//! installed with MADV_GUARD_INSTALL (Linux 6.13), which needs no mapping of its own, else with
//! mprotect, which costs one mapping a stack. Stacks of 1 MiB and more are rounded up so that their
//! first pages differ in their place in the page table. Constant after construction except for
//! guards that are installed later. So any thread, and any signal handler, may look up the stack of
//! an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/address_band.hpp"

namespace sorrel::os {

/// The stack that the system's limit (ulimit -s) grants a process: 8 MiB where there is no limit,
/// and at least 1 MiB.
[[nodiscard]] std::size_t default_stack_bytes();

class StackSlab {
 public:
  struct Location {
    std::size_t index;
    bool in_guard;
  };

  /// When guards are installed, which takes about a microsecond each: by the constructor, or by
  /// install_guard().
  enum class Guards : std::uint8_t { at_once, later };

  /// Reserves `count` stacks of at least `stack_bytes` each (rounded up). 0 stands for
  /// default_stack_bytes(), or half of it, a quarter and so on down to 1 MiB if address space is
  /// short. Stacks lie in `band` if that is possible. Check is_valid().
  StackSlab(std::size_t count,
            std::size_t stack_bytes,
            Guards guards = Guards::at_once,
            const AddressBand& band = {});
  ~StackSlab();
  StackSlab(const StackSlab&) = delete;
  StackSlab& operator=(const StackSlab&) = delete;

  /// Address space of a stack of this size with its guard.
  [[nodiscard]] static std::size_t pitch_of(std::size_t stack_bytes);

  /// False when the address space or the map limit does not allow it.
  [[nodiscard]] bool is_valid() const { return base_ != nullptr; }

  /// Whether the stacks lie in the band.
  [[nodiscard]] bool is_in_band() const { return is_in_band_; }

  /// Installs the guard below a stack. Any thread, each stack once. False when the map limit does
  /// not allow the guard.
  [[nodiscard]] bool install_guard(std::size_t index) const;

  /// The stack reads as zero, and has no memory, as before its first use. Its guard stays. Not
  /// while a fiber has it.
  void clear(std::size_t index) const;

  /// Lowest usable address of a stack.
  [[nodiscard]] void* bottom(std::size_t index) const {
    return base_ + index * pitch_ + guard_bytes_;
  }

  [[nodiscard]] std::size_t stack_bytes() const { return pitch_ - guard_bytes_; }

  [[nodiscard]] std::size_t guard_bytes() const { return guard_bytes_; }

  /// Bytes that a fiber should use of its stack: a little less than all, by an amount that differs
  /// between stacks. Otherwise the same lines of many stacks would compete for the same few sets of
  /// the L1 cache.
  [[nodiscard]] std::size_t usable_bytes(std::size_t index) const {
    return stack_bytes() - index % color_count * color_bytes;
  }

  /// The stack that contains an address, or whose guard does; the guard above the last stack counts
  /// as that of a further stack. Safe in a signal handler.
  [[nodiscard]] std::optional<Location> location_of(const void* address) const;

 private:
  static constexpr std::size_t color_count = 32;
  static constexpr std::size_t color_bytes = 64;

  bool reserve(std::size_t stack_bytes, Guards guards, const AddressBand& band);
  [[nodiscard]] bool install_guards(Guards guards) const;
  void release();

  /// All stacks with their guards, and the guard above the last one.
  [[nodiscard]] std::size_t range_bytes() const { return count_ * pitch_ + guard_bytes_; }

  std::byte* base_ = nullptr;
  std::size_t count_;
  std::size_t guard_bytes_ = 0;
  std::size_t pitch_ = 0;
  /// An emulator may accept any advice and do nothing: one that accepts nonsense is not believed.
  bool are_guards_effective_ = false;
  bool is_in_band_ = false;
};

}  // namespace sorrel::os
