#include "mpi/collectives/meeting_tree.hpp"

#include <algorithm>

namespace sorrel::mpi {

namespace {

std::int32_t parent_in_heap(std::int32_t place) {
  return (place - 1) / MeetingTree::fan_out;
}

/// Calls body(child) for the children of `position` in a heap of `count`.
template <class Body>
void for_each_child_in_heap(std::int32_t place, std::int32_t count, Body&& body) {
  const std::int32_t first = place * MeetingTree::fan_out + 1;
  for (std::int32_t child = first; child < std::min(first + MeetingTree::fan_out, count); ++child)
    body(child);
}

}  // namespace

MeetingTree::MeetingTree(const ProcessMap& processes)
    : processes_(processes),
      is_flat_(processes.node_count() == 1),
      top_count_(is_flat_ ? processes.count() : processes.node_count()) {}

MeetingTree::Spot MeetingTree::spot_of(std::int32_t index) const {
  if (is_flat_) return {.top = index, .place = 0};
  const std::int32_t node = processes_.node_of(index);
  const auto& mates = processes_.on_node(node);
  return {
      .top = node,
      .place = static_cast<std::int32_t>(std::ranges::lower_bound(mates, index) - mates.begin())};
}

std::vector<std::int32_t> MeetingTree::children_of(std::int32_t index) const {
  std::vector<std::int32_t> children;
  const Spot spot = spot_of(index);
  if (!is_flat_) {
    const auto& mates = processes_.on_node(spot.top);
    for_each_child_in_heap(
        spot.place, static_cast<std::int32_t>(mates.size()),
        [&](std::int32_t child) { children.push_back(mates[static_cast<std::size_t>(child)]); });
  }
  if (spot.place == 0 && !is_direct()) {
    for_each_child_in_heap(spot.top, top_count_,
                           [&](std::int32_t top) { children.push_back(process_of_top(top)); });
  }
  return children;
}

std::int32_t MeetingTree::parent_of(std::int32_t index) const {
  const Spot spot = spot_of(index);
  if (spot.place != 0) {
    const auto parent = static_cast<std::size_t>(parent_in_heap(spot.place));
    return processes_.on_node(spot.top)[parent];
  }
  return is_direct() || spot.top == 0 ? -1 : process_of_top(parent_in_heap(spot.top));
}

std::vector<std::int32_t> MeetingTree::peers_of(std::int32_t index) const {
  std::vector<std::int32_t> peers;
  const Spot spot = spot_of(index);
  if (spot.place != 0 || !is_direct()) return peers;
  for (std::int32_t top = 0; top < top_count_; ++top) {
    if (top != spot.top) peers.push_back(process_of_top(top));
  }
  return peers;
}

}  // namespace sorrel::mpi
