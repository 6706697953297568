#include "os/code_map.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "base/small_file.hpp"

namespace sorrel::os {

namespace {

constexpr std::size_t maps_bytes_max = std::size_t{256} << 20;

}  // namespace

std::vector<CodeRange> read_code_map() {
  std::vector<CodeRange> ranges;
  std::string maps;
  if (!read_small_file("/proc/self/maps", maps_bytes_max, maps).empty()) return ranges;
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t line_end = std::min(maps.find('\n', at), maps.size());
    const char* const line = maps.data() + at;
    at = line_end + 1;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    char access[8];
    int path_at = 0;
    const int found = std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n",
                                  &begin, &end, access, &offset, &path_at);
    if (found != 4 || access[2] != 'x' || line[path_at] != '/') continue;
    ranges.push_back(
        {.begin = begin,
         .end = end,
         .offset = offset,
         .path = std::string(line + path_at, static_cast<const char*>(maps.data()) + line_end)});
  }
  return ranges;
}

}  // namespace sorrel::os
