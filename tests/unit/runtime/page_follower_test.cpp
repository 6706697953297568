#include "runtime/page_follower.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "os/clock.hpp"
#include "os/memory_nodes.hpp"
#include "os/page_bytes.hpp"

namespace sorrel::runtime {
namespace {

constexpr std::size_t page_count = 1000;

/// The node of a page; a negative number if it has none.
int node_of(const void* page) {
  void* address = const_cast<void*>(page);
  int node = -1;
  return ::syscall(SYS_move_pages, 0, 1UL, &address, nullptr, &node, 0) == 0 ? node : -1;
}

/// Nodes to which memory may go: two if the machine has them.
std::vector<int> nodes() {
  const os::MemoryNodes machine = os::MemoryNodes::read();
  if (!machine.are_several()) return {0};
  return {machine.nodes().front().number, machine.nodes().back().number};
}

/// Memory of a rank, all of it touched.
class FollowedMemory : public testing::Test {
 protected:
  void SetUp() override {
    begin_ = static_cast<char*>(
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(begin_, MAP_FAILED);
    ::madvise(begin_, bytes(), MADV_NOHUGEPAGE);
    for (std::size_t page = 0; page < page_count; ++page)
      begin_[page * os::page_bytes()] = static_cast<char>(page);
    if (node_of(begin_) < 0) GTEST_SKIP() << "the system refuses to tell where pages lie";
  }

  void TearDown() override {
    if (begin_ != nullptr) ::munmap(begin_, bytes());
  }

  static std::size_t bytes() { return page_count * os::page_bytes(); }

  [[nodiscard]] os::MemoryRange pages(std::size_t first, std::size_t end) const {
    const auto address = reinterpret_cast<std::uintptr_t>(begin_);
    return {address + first * os::page_bytes(), address + end * os::page_bytes()};
  }

  [[nodiscard]] std::size_t count_on(int node) const {
    std::size_t count = 0;
    for (std::size_t page = 0; page < page_count; ++page)
      count += node_of(begin_ + page * os::page_bytes()) == node ? 1 : 0;
    return count;
  }

  /// Waits until so many pages have been looked at, for 50 s at most.
  static PageFollower::Report wait_for(PageFollower& follower, std::uint64_t count) {
    const std::int64_t end_ns = os::monotonic_ns() + 50'000'000'000;
    PageFollower::Report report = follower.report();
    while (report.pages.there + report.pages.elsewhere < count && os::monotonic_ns() < end_ns) {
      os::sleep_ns(1'000'000);
      report = follower.report();
    }
    return report;
  }

  char* begin_ = nullptr;
};

TEST_F(FollowedMemory, IsOnTheNodeSoonAndAsItWas) {
  PageFollower follower;
  std::uint64_t seen = 0;
  for (const int node : nodes()) {
    follower.follow(3, {pages(0, 300), pages(300, 300), pages(300, page_count)}, node);
    seen += page_count;
    EXPECT_EQ(wait_for(follower, seen).pages.there, seen);
    EXPECT_EQ(count_on(node), page_count);
  }
  EXPECT_EQ(follower.report().rank_count, nodes().size());
  for (std::size_t page = 0; page < page_count; ++page)
    EXPECT_EQ(begin_[page * os::page_bytes()], static_cast<char>(page));
}

TEST_F(FollowedMemory, OfSeveralRanksGoesToTheNodeOfEach) {
  PageFollower follower;
  const std::vector<int> to = nodes();
  follower.follow(0, {pages(0, 500)}, to.front());
  follower.follow(1, {pages(500, page_count)}, to.back());
  (void)wait_for(follower, page_count);
  EXPECT_EQ(node_of(begin_), to.front());
  EXPECT_EQ(node_of(begin_ + (page_count - 1) * os::page_bytes()), to.back());
}

TEST_F(FollowedMemory, IsNotMovedWhenTheRankHasLeft) {
  std::optional<PageFollower> follower(std::in_place);
  // More than can be moved before the rank leaves.
  std::vector<os::MemoryRange> memory(10'000, pages(0, page_count));
  follower->follow(0, memory, nodes().back());
  follower->forget(0);
  const std::uint64_t before = follower->report().pages.there;
  EXPECT_LT(before, memory.size() * page_count);
  os::sleep_ns(20'000'000);
  // A chunk may have been in progress.
  constexpr std::uint64_t chunk_pages = PageFollower::chunk_bytes / 4096;
  EXPECT_LE(follower->report().pages.there, before + chunk_pages);
  // With work left, the end does not wait for it.
  follower->follow(0, memory, nodes().back());
  const std::int64_t began_ns = os::monotonic_ns();
  follower.reset();
  EXPECT_LT(os::monotonic_ns() - began_ns, 5'000'000'000);
}

}  // namespace
}  // namespace sorrel::runtime
