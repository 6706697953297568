//! LargePages - memory on large pages, where the system supports them, for timed code.
//!
//! One owner. With small pages, chance decides which of them share a cache set and, on a virtual
//! machine, how far each is from memory. The same sweep over two allocations then differs by up to
//! a factor of two; on large pages, by some percent. This does not depend on the cut, so it is kept
//! out of the results.
#pragma once

#include <cstddef>
#include <span>

namespace sorrel::grid {

class LargePages {
 public:
  LargePages() = default;
  /// Zeroed; aborts if memory has run out. `color` shifts the begin by some pages, so that the
  /// arrays of several owners do not all begin in the same cache set.
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
