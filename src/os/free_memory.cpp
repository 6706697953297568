#include "os/free_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/small_file.hpp"
#include "os/cgroup.hpp"

namespace sorrel::os {

namespace {

/// The bytes behind a name such as "MemTotal:", which are given in KiB.
std::uint64_t bytes_behind(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::numeric_limits<std::uint64_t>::max();
  return std::strtoull(text.c_str() + at + name.size(), nullptr, 10) << 10;
}

}  // namespace

FreeMemory free_memory(const std::string& root) {
  constexpr std::size_t file_bytes_max = std::size_t{1} << 16;
  std::string text;
  // What cannot be read is empty, and so not known.
  static_cast<void>(read_small_file(root + "/proc/meminfo", file_bytes_max, text));
  FreeMemory memory{.bytes = bytes_behind(text, "MemAvailable:"),
                    .all_bytes = bytes_behind(text, "MemTotal:")};
  if (const auto limit = memory_limit(root)) memory.all_bytes = std::min(memory.all_bytes, *limit);
  if (const auto left = memory_left(root)) memory.bytes = std::min(memory.bytes, *left);
  return memory;
}

}  // namespace sorrel::os
