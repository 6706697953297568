#include "os/page_nodes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/page_bytes.hpp"

namespace sorrel::os {

namespace {

/// The kernel's own limit is 1024.
constexpr std::size_t node_count_max = 1024;
constexpr std::size_t bits_per_word = sizeof(unsigned long) * CHAR_BIT;

/// A set of one node.
struct NodeMask {
  explicit NodeMask(int node) {
    SORREL_ASSERT(node >= 0 && static_cast<std::size_t>(node) < node_count_max, "node %d", node);
    const auto bit = static_cast<std::size_t>(node);
    words[bit / bits_per_word] = 1UL << bit % bits_per_word;
  }

  // The kernel takes one bit less than the caller says.
  static constexpr unsigned long bit_count = node_count_max + 1;
  std::array<unsigned long, node_count_max / bits_per_word> words{};
};

bool is_number(int node) {
  return node >= 0 && static_cast<std::size_t>(node) < node_count_max;
}

std::uintptr_t page_begin(std::uintptr_t address) {
  return address / page_bytes() * page_bytes();
}

/// One call of the system for so many pages.
constexpr std::size_t pages_at_a_time = 256;

PageCount move_some(int node, std::uintptr_t begin, std::size_t count) {
  SORREL_ASSERT(count <= pages_at_a_time && begin % page_bytes() == 0, "%zu pages at 0x%zx", count,
                begin);
  std::array<void*, pages_at_a_time> pages{};
  std::array<int, pages_at_a_time> nodes{};
  std::array<int, pages_at_a_time> states{};
  for (std::size_t i = 0; i < count; ++i) {
    pages[i] = reinterpret_cast<void*>(begin + i * page_bytes());
    nodes[i] = node;
    states[i] = -ENOENT;
  }
  if (::syscall(SYS_move_pages, 0, count, pages.data(), nodes.data(), states.data(), MPOL_MF_MOVE) <
      0)
    return {};
  PageCount sum;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_absent = states[i] == -ENOENT || states[i] == -EFAULT;
    sum.there += states[i] == node ? 1 : 0;
    sum.elsewhere += states[i] != node && !is_absent ? 1 : 0;
  }
  return sum;
}

}  // namespace

bool has_memory_policy() {
  int mode = MPOL_DEFAULT;
  return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, nullptr, 0UL) == 0 &&
         mode != MPOL_DEFAULT;
}

void prefer_node(const MemoryRange& range, int node) {
  SORREL_ASSERT(range.begin <= range.end, "0x%zx to 0x%zx", range.begin, range.end);
  if (!is_number(node)) return;
  const NodeMask mask(node);
  const std::uintptr_t begin = page_begin(range.begin);
  ::syscall(SYS_mbind, begin, range.end - begin, MPOL_PREFERRED, mask.words.data(),
            NodeMask::bit_count, 0UL);
}

PageCount move_pages_to(int node, const MemoryRange& range) {
  PageCount sum;
  if (!is_number(node)) return sum;
  std::uintptr_t at = page_begin(range.begin);
  while (at < range.end) {
    const std::size_t left = (range.end - at + page_bytes() - 1) / page_bytes();
    const std::size_t count = std::min(left, pages_at_a_time);
    const PageCount some = move_some(node, at, count);
    sum.there += some.there;
    sum.elsewhere += some.elsewhere;
    at += count * page_bytes();
  }
  return sum;
}

PreferredNode::PreferredNode(int node) {
  if (!is_number(node)) return;
  const NodeMask mask(node);
  is_set_ =
      ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.words.data(), NodeMask::bit_count) == 0;
}

PreferredNode::~PreferredNode() {
  if (is_set_) ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
}

}  // namespace sorrel::os
