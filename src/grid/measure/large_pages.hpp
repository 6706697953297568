//! LargePages - memory on large pages, where the system gives them, for what is timed.
//!
//! One owner. With small pages it is chance which of them share a place in a cache, and on a
//! virtual machine how far each is from memory: the same sweep over two allocations differs by up
//! to a factor of two, and by some percent on large pages. Programs do not get the difference
//! between cuts from there, so it is kept out of the figures.
#pragma once

#include <cstddef>
#include <span>

namespace sorrel::grid {

class LargePages {
 public:
  LargePages() = default;
  /// Of zeros; aborts where memory has run out. `color` shifts the begin by some pages, so that the
  /// arrays of several owners do not all begin at the same place of a cache.
  explicit LargePages(std::size_t bytes, int color = 0);
  LargePages(LargePages&& other) noexcept;
  LargePages& operator=(LargePages&& other) noexcept;
  ~LargePages();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> mapped_;
  std::span<std::byte> bytes_;
};

}  // namespace sorrel::grid
