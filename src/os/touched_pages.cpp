#include "os/touched_pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/page_bytes.hpp"

namespace sorrel::os {

namespace {

// Linux, Documentation/admin-guide/mm/pagemap.rst.
constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
constexpr std::uint64_t is_swapped = std::uint64_t{1} << 62;
/// A page of a file that was not written since, or of shared memory.
constexpr std::uint64_t is_of_file = std::uint64_t{1} << 61;

constexpr std::size_t entries_at_a_time = 4096;

bool is_touched(std::uint64_t entry) {
  return (entry & (is_present | is_swapped)) != 0 && (entry & is_of_file) == 0;
}

}  // namespace

TouchedPages::TouchedPages() : descriptor_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

TouchedPages::~TouchedPages() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string TouchedPages::add_runs(const MemoryRange& range, std::vector<MemoryRange>& runs) const {
  SORREL_ASSERT(range.begin <= range.end, "0x%zx to 0x%zx", range.begin, range.end);
  const std::uintptr_t page = page_bytes();
  std::array<std::uint64_t, entries_at_a_time> entries{};
  std::uintptr_t at = range.begin / page * page;
  bool is_in_run = false;
  while (at < range.end) {
    const std::size_t wanted =
        std::min<std::size_t>(entries_at_a_time, (range.end - at + page - 1) / page);
    const ssize_t bytes = ::pread(descriptor_, entries.data(), wanted * sizeof entries[0],
                                  static_cast<off_t>(at / page * sizeof entries[0]));
    if (bytes < static_cast<ssize_t>(sizeof entries[0]))
      return std::string("cannot read /proc/self/pagemap: ") +
             (bytes >= 0 ? "no entries" : std::strerror(errno));
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof entries[0];
    SORREL_ASSERT(count <= wanted, "%zu entries, %zu were wanted", count, wanted);
    for (std::size_t i = 0; i < count; ++i, at += page) {
      const bool was_in_run = is_in_run;
      is_in_run = is_touched(entries[i]);
      const std::uintptr_t end = std::min(at + page, range.end);
      SORREL_ASSERT(!is_in_run || !was_in_run || runs.back().end == at,
                    "a run ends at 0x%zx, before 0x%zx", runs.back().end, at);
      if (is_in_run && was_in_run) {
        runs.back().end = end;
      } else if (is_in_run) {
        runs.push_back({std::max(at, range.begin), end});
      }
    }
  }
  return "";
}

}  // namespace sorrel::os
