#include "mpi/collectives/tree_fold.hpp"

#include <algorithm>
#include <array>

namespace sorrel::mpi {

void TreeFold::fold(std::span<const PartialTotal> totals, ElementRange range, void* into) {
  for (std::size_t done = 0; done < range.count; done += chunk_) {
    const ElementRange part{.first = range.first + done,
                            .count = std::min(chunk_, range.count - done)};
    fold_chunk(totals, part, element_at(into, done, arguments_.type));
  }
}

void TreeFold::fold_chunk(std::span<const PartialTotal> totals, ElementRange range, void* into) {
  // From the last total to the first, each as far up as its right siblings are there.
  std::array<RankTree::Node, 32> waiting;
  std::size_t count = 0;
  const auto buffer = [&](std::size_t index) {
    if (index == 0) return into;
    if (index > scratch_.size()) scratch_.emplace_back(chunk_, arguments_.type);
    return scratch_[index - 1].buffer();
  };
  for (std::size_t i = totals.size(); i-- > 0;) {
    const void* elements =
        element_at(totals[i].elements, range.first - totals[i].first, arguments_.type);
    RankTree::Node node = totals[i].node;
    if (count > 0 && RankTree::are_siblings(node, waiting[count - 1])) {
      combine(arguments_, elements, buffer(count - 1), range.count);
      node = waiting[count - 1] = tree_.parent(node);
    } else {
      copy_elements(elements, buffer(count), range.count, arguments_.type);
      waiting[count++] = node;
    }
    for (; count > 1 && RankTree::are_siblings(node, waiting[count - 2]); --count) {
      combine(arguments_, buffer(count - 1), buffer(count - 2), range.count);
      node = waiting[count - 2] = tree_.parent(node);
    }
  }
  SORREL_ASSERT(count == 1, "%zu totals make up %zu nodes", totals.size(), count);
}

}  // namespace sorrel::mpi
