#include "mpi/collectives/node_fold.hpp"

#include <algorithm>
#include <bit>

#include "base/cache_line.hpp"

namespace sorrel::mpi {

NodeFold::NodeFold(std::int32_t rank_count, const std::vector<std::int32_t>& members, Alone alone)
    : tree_(rank_count), alone_(alone) {
  for (const std::int32_t rank : members) {
    parts_.push_back(
        {.node = tree_.leaf(rank), .other = nullptr, .index = static_cast<std::size_t>(rank)});
  }
  plan();
}

NodeFold::NodeFold(std::int32_t rank_count, const std::vector<const NodeFold*>& others)
    : tree_(rank_count) {
  for (const NodeFold* other : others) {
    for (std::size_t i = 0; i < other->totals_.size(); ++i)
      parts_.push_back({.node = other->totals_[i].node, .other = other, .index = i});
  }
  std::ranges::sort(parts_, {}, [](const Part& part) { return part.node.first; });
  plan();
}

/// Plans which parts make up which total.
void NodeFold::plan() {
  std::vector<RankTree::Node> nodes;
  for (const Part& part : parts_)
    nodes.push_back(part.node);
  std::size_t end = 0;
  for (const RankTree::Node& node : tree_.cover_of(nodes)) {
    while (end < parts_.size() && parts_[end].node.first < tree_.last(node))
      ++end;
    ends_.push_back(end);
    totals_.push_back({.node = node, .elements = nullptr});
  }
  operands_.resize(parts_.size());
}

void NodeFold::make_room(std::size_t bytes) {
  if (bytes <= room_bytes_) return;
  room_bytes_ = std::bit_ceil(bytes);
  room_ = std::make_unique_for_overwrite<std::byte[]>(room_bytes_);
}

void NodeFold::fold(const ReductionArguments& arguments, const void* const* operands) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    operands_[i] = {.node = part.node,
                    .elements = part.other == nullptr ? operands[part.index]
                                                      : part.other->totals_[part.index].elements};
  }
  const std::size_t bytes = arguments.count * arguments.type.size();
  const std::size_t distance = (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  make_room(distance * totals_.size());
  TreeFold tree_fold(tree_, arguments);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    const std::span parts = std::span(operands_).subspan(begin, ends_[i] - begin);
    begin = ends_[i];
    totals_[i].elements = parts.front().elements;
    if (parts.size() == 1 && alone_ == Alone::as_it_is) continue;
    std::byte* const room = room_.get() + i * distance;
    tree_fold.fold(parts, {.first = 0, .count = arguments.count}, room);
    totals_[i].elements = room;
  }
}

}  // namespace sorrel::mpi
