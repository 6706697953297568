//! Page nodes - on which memory node (os/memory_nodes.hpp) pages of this process are to lie.
//!
//! Any thread. All of it changes the speed of memory and nothing else, so a kernel or a container
//! that refuses these calls is no error: pages then stay where they were touched first.
#pragma once

#include <cstddef>

#include "os/touched_pages.hpp"

namespace sorrel::os {

/// Whether the user has chosen where memory of this process lies, as numactl(8) does.
[[nodiscard]] bool has_memory_policy();

/// Pages of the range that have not been touched will lie on the node while that has room, those at
/// its ends too. Of shared memory, for all processes.
void prefer_node(const MemoryRange& range, int node);

struct PageCount {
  std::size_t there = 0;
  std::size_t elsewhere = 0;
};

/// Moves the pages of the range that are in memory, those at its ends too. The contents stay, and
/// other threads may use them meanwhile. Returns how many are on the node now, and how many the
/// kernel has left elsewhere. About a microsecond and the copy for each page.
PageCount move_pages_to(int node, const MemoryRange& range);

/// While it exists, pages that the calling thread touches first lie on the node while that has
/// room. Only without has_memory_policy(). A negative number stands for no node in particular.
class PreferredNode {
 public:
  explicit PreferredNode(int node);
  ~PreferredNode();
  PreferredNode(const PreferredNode&) = delete;
  PreferredNode& operator=(const PreferredNode&) = delete;

 private:
  bool is_set_ = false;
};

}  // namespace sorrel::os
