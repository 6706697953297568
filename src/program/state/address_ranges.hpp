//! AddressRanges - a set of ranges of addresses, which calls of the system add and remove in part.
//! A length counts up to the end of its last page, as in these calls.
//!
//! One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::program {

class AddressRanges {
 public:
  void add(const void* address, std::size_t bytes) {
    remove(address, bytes);
    ranges_.push_back(range_of(address, bytes));
    SORREL_ASSERT(ranges_.back().begin <= ranges_.back().end, "%zu bytes at %p", bytes, address);
  }

  /// Also a part of what was added.
  void remove(const void* address, std::size_t bytes) {
    const os::MemoryRange gone = range_of(address, bytes);
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

  /// The length of the range that begins there; 0: there is none.
  [[nodiscard]] std::size_t bytes_from(const void* address) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const auto found = std::ranges::find(ranges_, begin, &os::MemoryRange::begin);
    return found == ranges_.end() ? 0 : found->end - found->begin;
  }

  [[nodiscard]] bool any() const { return !ranges_.empty(); }

 private:
  static os::MemoryRange range_of(const void* address, std::size_t bytes) {
    constexpr std::uintptr_t page_bytes = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    return {begin, (begin + bytes + page_bytes - 1) / page_bytes * page_bytes};
  }

  std::vector<os::MemoryRange> ranges_;
};

}  // namespace sorrel::program
