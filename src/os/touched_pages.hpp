//! TouchedPages - which pages of this process's private memory differ from what a new process would
//! find there: they were written, and are in memory or in swap.
//!
//! From /proc/self/pagemap, which needs no privilege for this. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::os {

/// The bytes [begin, end) of memory.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool operator==(const MemoryRange&) const = default;
};

class TouchedPages {
 public:
  TouchedPages();
  ~TouchedPages();
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  /// Appends the runs of touched pages in `range`, whose ends need not be those of pages: what is
  /// outside is left out. Returns an error, or "".
  [[nodiscard]] std::string add_runs(const MemoryRange& range,
                                     std::vector<MemoryRange>& runs) const;

 private:
  int descriptor_;
};

}  // namespace sorrel::os
