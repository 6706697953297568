//! StackSlab - the stacks of all fibers of a process in one reserved, lazily committed range of
//! addresses.
//!
//! Each stack has guard pages below it. Guards are installed with MADV_GUARD_INSTALL (Linux 6.13),
//! which needs no map of its own, else with mprotect, which costs one map a stack. Constant after
//! construction, so any thread may ask which stack an address belongs to, a signal handler too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sorrel::os {

class StackSlab {
 public:
  struct Place {
    std::size_t index;
    bool in_guard;
  };

  /// Reserves `count` stacks of at least `stack_bytes` each (rounded up to pages). Check
  /// is_valid().
  StackSlab(std::size_t count, std::size_t stack_bytes);
  ~StackSlab();
  StackSlab(const StackSlab&) = delete;
  StackSlab& operator=(const StackSlab&) = delete;

  /// False when the address space or the map limit does not allow it.
  [[nodiscard]] bool is_valid() const { return base_ != nullptr; }

  /// Lowest usable address of a stack.
  [[nodiscard]] void* bottom(std::size_t index) const {
    return base_ + index * pitch_ + guard_bytes_;
  }

  [[nodiscard]] std::size_t stack_bytes() const { return pitch_ - guard_bytes_; }

  /// What a fiber should use of its stack: a little less than all, by an amount that differs from
  /// stack to stack, because the same lines of many stacks would compete for the same few sets of
  /// the first-level cache.
  [[nodiscard]] std::size_t usable_bytes(std::size_t index) const {
    return stack_bytes() - index % color_count * color_bytes;
  }

  /// Which stack an address lies in, or in whose guard page. Safe in a signal handler.
  [[nodiscard]] std::optional<Place> place_of(const void* address) const;

 private:
  static constexpr std::size_t color_count = 32;
  static constexpr std::size_t color_bytes = 64;

  bool install_guards();

  std::byte* base_ = nullptr;
  std::size_t count_;
  std::size_t guard_bytes_;
  std::size_t pitch_;
};

}  // namespace sorrel::os
