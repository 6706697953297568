// Memory that is as if it had never been written.
#include "os/cleared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <sys/mman.h>

#include "os/page_bytes.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::os {
namespace {

class Pages {
 public:
  Pages()
      : begin_(static_cast<std::byte*>(
            mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::memset(begin_, 0x5a, bytes());
  }

  ~Pages() { munmap(begin_, bytes()); }

  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  static std::size_t bytes() { return 4 * page_bytes(); }

  [[nodiscard]] std::byte* begin() const { return begin_; }

  [[nodiscard]] bool is_zero() const {
    return std::ranges::all_of(std::span(begin_, bytes()),
                               [](std::byte each) { return each == std::byte{0}; });
  }

 private:
  std::byte* begin_;
};

TEST(ClearedMemory, IsZeroAndHasNoPages) {
  const Pages pages;
  errno = 77;
  clear_memory(pages.begin(), Pages::bytes());
  EXPECT_EQ(errno, 77);
  std::vector<MemoryRange> touched;
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.begin());
  EXPECT_EQ(TouchedPages().add_runs({begin, begin + Pages::bytes()}, touched), "");
  EXPECT_TRUE(touched.empty());
  EXPECT_TRUE(pages.is_zero());
}

TEST(ClearedMemory, IsZeroAlsoIfItIsLocked) {
  const Pages pages;
  if (mlock(pages.begin(), Pages::bytes()) != 0) GTEST_SKIP() << "memory cannot be locked";
  errno = 77;
  clear_memory(pages.begin(), Pages::bytes());
  EXPECT_EQ(errno, 77);
  EXPECT_TRUE(pages.is_zero());
}

}  // namespace
}  // namespace sorrel::os
