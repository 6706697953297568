#include "base/copy_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

namespace sorrel {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr auto untouched = std::byte{0xee};

using Copy = void (*)(void*, const void*, std::size_t);

void copy_by_16(void* target, const void* source, std::size_t bytes) {
  copy_by(CopyWidth::bytes16, target, source, bytes);
}

void copy_by_32(void* target, const void* source, std::size_t bytes) {
  copy_by(CopyWidth::bytes32, target, source, bytes);
}

void copy_by_64(void* target, const void* source, std::size_t bytes) {
  copy_by(CopyWidth::bytes64, target, source, bytes);
}

/// Every way of a long copy that this processor has.
std::vector<Copy> long_copies() {
  std::vector<Copy> all{copy_bytes, copy_past_caches, copy_by_16};
  if (copy_width() >= CopyWidth::bytes32) all.push_back(copy_by_32);
  if (copy_width() >= CopyWidth::bytes64) all.push_back(copy_by_64);
  return all;
}

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(i * 7 + i / 251);
  return made;
}

/// Copies within bytes that must stay as they are.
void expect_exact(Copy copy, const std::byte* source, std::size_t bytes, std::size_t target_at) {
  std::vector<std::byte> target(target_at + bytes + 64, untouched);
  copy(target.data() + target_at, source, bytes);
  const auto is_untouched = [](std::byte value) { return value == untouched; };
  const auto begin = target.begin() + static_cast<std::ptrdiff_t>(target_at);
  const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
  ASSERT_TRUE(std::all_of(target.begin(), begin, is_untouched)) << bytes << " at " << target_at;
  ASSERT_TRUE(std::all_of(end, target.end(), is_untouched)) << bytes << " at " << target_at;
  ASSERT_EQ(std::memcmp(target.data() + target_at, source, bytes), 0)
      << bytes << " at " << target_at;
}

TEST(CopyBytes, EveryShortSizeIsExact) {
  const std::vector<std::byte> source = pattern(2200);
  for (std::size_t bytes = 0; bytes <= 2100; ++bytes)
    expect_exact(copy_bytes, source.data() + bytes % 5, bytes, bytes % 67);
}

// All offsets in a line at both ends, with lengths about the steps of every loop.
TEST(CopyBytes, EveryAlignmentIsExact) {
  const std::vector<std::byte> source = pattern(8192);
  for (const Copy copy : long_copies()) {
    for (const std::size_t bytes : {2048, 2049, 2111, 2303, 2304, 2305, 4096, 4352, 5000}) {
      for (std::size_t to = 0; to < 64; ++to)
        expect_exact(copy, source.data() + to * 13 % 64, bytes, to);
      for (std::size_t from = 0; from < 64; ++from)
        expect_exact(copy, source.data() + from, bytes, 3);
    }
  }
}

TEST(CopyBytes, PastCachesTakesShortLengths) {
  const std::vector<std::byte> source = pattern(400);
  for (std::size_t bytes = 0; bytes < 200; ++bytes)
    for (std::size_t to = 0; to < 64; to += 7)
      expect_exact(copy_past_caches, source.data() + 5, bytes, to);
}

TEST(CopyBytes, AVeryLongCopyIsExact) {
  const std::vector<std::byte> source = pattern(past_caches_bytes + 100);
  expect_exact(copy_bytes, source.data() + 9, past_caches_bytes + 33, 17);
}

// A receive and a send of the same buffer, for instance.
TEST(CopyBytes, EqualRangesStayAsTheyAre) {
  for (const Copy copy : long_copies()) {
    std::vector<std::byte> both = pattern(5000);
    copy(both.data() + 3, both.data() + 3, 4500);
    EXPECT_EQ(both, pattern(5000));
  }
}

/// Pages between two that cannot be accessed.
class GuardedPages {
 public:
  static constexpr std::size_t bytes = 4 * page_bytes;

  GuardedPages()
      : map_(static_cast<std::byte*>(::mmap(
            nullptr, bytes + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(::mprotect(begin(), bytes, PROT_READ | PROT_WRITE), 0);
  }

  ~GuardedPages() { ::munmap(map_, bytes + 2 * page_bytes); }

  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  [[nodiscard]] std::byte* begin() { return map_ + page_bytes; }

  [[nodiscard]] std::byte* end() { return begin() + bytes; }

 private:
  std::byte* map_;
};

// An access outside of the ranges ends the test.
TEST(CopyBytes, NothingOutsideIsReadOrWritten) {
  GuardedPages source;
  GuardedPages target;
  const std::vector<std::byte> values = pattern(GuardedPages::bytes);
  std::memcpy(source.begin(), values.data(), values.size());
  const auto copy_at = [&](Copy copy, std::byte* to, const std::byte* from, std::size_t bytes) {
    copy(to, from, bytes);
    ASSERT_EQ(std::memcmp(to, from, bytes), 0);
  };
  for (const Copy copy : long_copies()) {
    for (std::size_t bytes = 2048; bytes <= 2048 + 300; ++bytes) {
      copy_at(copy, target.begin(), source.begin(), bytes);
      copy_at(copy, target.end() - bytes, source.end() - bytes, bytes);
      copy_at(copy, target.begin(), source.end() - bytes, bytes);
      copy_at(copy, target.end() - bytes, source.begin(), bytes);
    }
  }
  for (std::size_t bytes = 0; bytes < 2048; ++bytes) {
    copy_at(copy_bytes, target.begin(), source.begin(), bytes);
    copy_at(copy_bytes, target.end() - bytes, source.end() - bytes, bytes);
  }
}

}  // namespace
}  // namespace sorrel
