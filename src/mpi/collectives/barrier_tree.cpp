#include "mpi/collectives/barrier_tree.hpp"

#include <algorithm>

namespace sorrel::mpi {

namespace {

std::int32_t parent_in_heap(std::int32_t position) {
  return (position - 1) / BarrierTree::fan_out;
}

/// Calls body(child) for the children of `position` in a heap of `count`.
template <class Body>
void for_each_child_in_heap(std::int32_t position, std::int32_t count, Body&& body) {
  const std::int32_t first = position * BarrierTree::fan_out + 1;
  for (std::int32_t child = first; child < std::min(first + BarrierTree::fan_out, count); ++child)
    body(child);
}

}  // namespace

BarrierTree::BarrierTree(const ProcessMap& processes)
    : processes_(processes),
      is_flat_(processes.node_count() == 1),
      root_count_(is_flat_ ? processes.count() : processes.node_count()) {}

BarrierTree::Spot BarrierTree::spot_of(std::int32_t index) const {
  if (is_flat_) return {.root = index, .position = 0};
  const std::int32_t node = processes_.node_of(index);
  const auto& node_processes = processes_.on_node(node);
  SORREL_ASSERT(std::ranges::binary_search(node_processes, index));
  return {.root = node,
          .position = static_cast<std::int32_t>(std::ranges::lower_bound(node_processes, index) -
                                                node_processes.begin())};
}

std::vector<std::int32_t> BarrierTree::children_of(std::int32_t index) const {
  std::vector<std::int32_t> children;
  const Spot spot = spot_of(index);
  if (!is_flat_) {
    const auto& node_processes = processes_.on_node(spot.root);
    for_each_child_in_heap(spot.position, static_cast<std::int32_t>(node_processes.size()),
                           [&](std::int32_t child) {
                             children.push_back(node_processes[static_cast<std::size_t>(child)]);
                           });
  }
  if (spot.position == 0 && !is_direct()) {
    for_each_child_in_heap(spot.root, root_count_,
                           [&](std::int32_t root) { children.push_back(process_of_root(root)); });
  }
  return children;
}

std::int32_t BarrierTree::parent_of(std::int32_t index) const {
  const Spot spot = spot_of(index);
  if (spot.position != 0) {
    const auto parent = static_cast<std::size_t>(parent_in_heap(spot.position));
    return processes_.on_node(spot.root)[parent];
  }
  return is_direct() || spot.root == 0 ? -1 : process_of_root(parent_in_heap(spot.root));
}

std::vector<std::int32_t> BarrierTree::peers_of(std::int32_t index) const {
  std::vector<std::int32_t> peers;
  const Spot spot = spot_of(index);
  if (spot.position != 0 || !is_direct()) return peers;
  for (std::int32_t root = 0; root < root_count_; ++root) {
    if (root != spot.root) peers.push_back(process_of_root(root));
  }
  return peers;
}

}  // namespace sorrel::mpi
