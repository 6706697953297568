#include "os/page_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "os/memory_nodes.hpp"
#include "os/page_bytes.hpp"
#include "os/shared_segment.hpp"

namespace sorrel::os {
namespace {

constexpr std::size_t page_count = 600;
constexpr std::size_t touched_step = 3;

/// The kernel's answer: the node of a page that has been touched; else a negative number.
int node_of(const void* page) {
  void* address = const_cast<void*>(page);
  int node = -1;
  return ::syscall(SYS_move_pages, 0, 1UL, &address, nullptr, &node, 0) == 0 ? node : -1;
}

/// The node of a first cpu and that of a last one, which are equal on a machine of one node.
std::vector<int> two_nodes() {
  const MemoryNodes machine = MemoryNodes::read();
  if (!machine.are_several()) return {0, 0};
  return {machine.nodes().front().number, machine.nodes().back().number};
}

/// Whether the kernel has these calls, and the container permits them.
bool may_place() {
  int mode = 0;
  const std::vector<char> memory(1);
  return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, nullptr, 0UL) == 0 &&
         node_of(memory.data()) >= 0;
}

/// Private pages, of which none has been touched.
class PageNodes : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_place()) GTEST_SKIP() << "the system refuses to place pages";
    begin_ = static_cast<char*>(
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(begin_, MAP_FAILED);
    ::madvise(begin_, bytes(), MADV_NOHUGEPAGE);
  }

  void TearDown() override {
    if (begin_ != nullptr) ::munmap(begin_, bytes());
  }

  static std::size_t bytes() { return page_count * page_bytes(); }

  [[nodiscard]] char& first_byte_of(std::size_t page) const { return begin_[page * page_bytes()]; }

  [[nodiscard]] MemoryRange range(std::size_t begin, std::size_t end) const {
    const auto address = reinterpret_cast<std::uintptr_t>(begin_);
    return {address + begin, address + end};
  }

  char* begin_ = nullptr;
};

TEST_F(PageNodes, MovesPagesThatAreInMemoryWithTheirContentsAndMakesNone) {
  for (std::size_t page = 0; page < page_count; page += touched_step)
    first_byte_of(page) = static_cast<char>(page);
  for (const int node : two_nodes()) {
    const PageCount count = move_pages_to(node, range(0, bytes()));
    EXPECT_EQ(count.there, page_count / touched_step);
    EXPECT_EQ(count.elsewhere, 0U);
    for (std::size_t page = 0; page < page_count; ++page) {
      const char* address = &first_byte_of(page);
      if (page % touched_step == 0) {
        EXPECT_EQ(node_of(address), node) << page;
        EXPECT_EQ(*address, static_cast<char>(page));
      } else {
        EXPECT_LT(node_of(address), 0) << page;
      }
    }
  }
}

TEST_F(PageNodes, PagesAtTheEndsOfARangeBelongToIt) {
  for (std::size_t page = 0; page < 3; ++page)
    first_byte_of(page) = 1;
  const PageCount count =
      move_pages_to(two_nodes().back(), range(page_bytes() - 1, 2 * page_bytes() + 1));
  EXPECT_EQ(count.there, 3U);
}

TEST_F(PageNodes, ANodeThatIsNotThereLeavesPagesWhereTheyAre) {
  first_byte_of(0) = 1;
  const int before = node_of(begin_);
  for (const int node : {-1, 999, 5000}) {
    EXPECT_EQ(move_pages_to(node, range(0, 1)).there, 0U);
    prefer_node(range(0, bytes()), node);
    first_byte_of(static_cast<std::size_t>(node == -1 ? 1 : 2)) = 1;
    EXPECT_EQ(node_of(begin_), before);
  }
}

TEST_F(PageNodes, UntouchedPagesGoToThePreferredNode) {
  for (const int node : two_nodes()) {
    prefer_node(range(0, bytes()), node);
    const auto page = static_cast<std::size_t>(node);
    first_byte_of(page) = 1;
    EXPECT_EQ(node_of(&first_byte_of(page)), node);
  }
}

TEST_F(PageNodes, SharedMemoryGoesToThePreferredNode) {
  SharedSegment segment = SharedSegment::create(bytes());
  ASSERT_TRUE(segment.is_valid());
  const auto begin = reinterpret_cast<std::uintptr_t>(segment.base());
  const std::vector<int> nodes = two_nodes();
  prefer_node({begin, begin + bytes() / 2}, nodes.front());
  prefer_node({begin + bytes() / 2, begin + bytes()}, nodes.back());
  segment.base()[0] = segment.base()[bytes() - 1] = std::byte{1};
  EXPECT_EQ(node_of(segment.base()), nodes.front());
  EXPECT_EQ(node_of(segment.base() + bytes() - page_bytes()), nodes.back());
}

TEST_F(PageNodes, AThreadPrefersANodeForAWhile) {
  ASSERT_FALSE(has_memory_policy());
  for (const int node : two_nodes()) {
    const PreferredNode preferred(node);
    EXPECT_TRUE(has_memory_policy());
    const auto page = static_cast<std::size_t>(node);
    first_byte_of(page) = 1;
    EXPECT_EQ(node_of(&first_byte_of(page)), node);
  }
  EXPECT_FALSE(has_memory_policy());
  const PreferredNode none(-1);
  EXPECT_FALSE(has_memory_policy());
}

}  // namespace
}  // namespace sorrel::os
