#include "base/copy_past_caches.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel {
namespace {

// All offsets within a cache line at both ends, with lengths around the boundaries of the loop.
TEST(CopyPastCaches, CopiesWhatItIsToldAndNothingElse) {
  constexpr std::size_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 129, 191, 4096, 4099};
  constexpr std::size_t room = 4096 + 256;
  std::vector<std::uint8_t> source(room), target(room), expected(room);
  for (std::size_t i = 0; i < room; ++i)
    source[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  for (const std::size_t length : lengths)
    for (std::size_t from = 0; from < 64; from += 9)
      for (std::size_t to = 0; to < 64; ++to) {
        target.assign(room, 0xee);
        expected.assign(room, 0xee);
        std::memcpy(expected.data() + to, source.data() + from, length);
        copy_past_caches(target.data() + to, source.data() + from, length);
        ASSERT_EQ(target, expected) << length << " bytes from " << from << " to " << to;
      }
}

}  // namespace
}  // namespace sorrel
