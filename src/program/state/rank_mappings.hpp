//! RankMappings - memory that a rank has mapped by itself, and not unmapped: no checkpoint has it.
//! And whether the rank has changed how its memory may be used.
//!
//! Any thread of the rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "os/touched_pages.hpp"

namespace sorrel::program {

class RankMappings {
 public:
  void add(const void* address, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    ranges_.push_back(range_of(address, bytes));
  }

  /// Memory of which a part is unmapped, or replaced, no longer counts where that is.
  void remove(const void* address, std::size_t bytes) {
    const os::MemoryRange gone = range_of(address, bytes);
    const std::scoped_lock lock(mutex_);
    std::vector<os::MemoryRange> left;
    for (const os::MemoryRange& range : ranges_) {
      const os::MemoryRange before{range.begin, std::min(range.end, gone.begin)};
      const os::MemoryRange behind{std::max(range.begin, gone.end), range.end};
      for (const os::MemoryRange& part : {before, behind}) {
        if (part.begin < part.end) left.push_back(part);
      }
    }
    ranges_ = std::move(left);
  }

  [[nodiscard]] bool any() const {
    const std::scoped_lock lock(mutex_);
    return !ranges_.empty();
  }

  void set_protected() {
    const std::scoped_lock lock(mutex_);
    is_protected_ = true;
  }

  [[nodiscard]] bool is_protected() const {
    const std::scoped_lock lock(mutex_);
    return is_protected_;
  }

 private:
  static os::MemoryRange range_of(const void* address, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    return {begin, begin + bytes};
  }

  mutable std::mutex mutex_;
  std::vector<os::MemoryRange> ranges_;
  bool is_protected_ = false;
};

}  // namespace sorrel::program
