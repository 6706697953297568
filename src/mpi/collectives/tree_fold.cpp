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
  // A total whose left sibling has not been combined yet, and its elements: an operand or, at index
  // i, those in buffer(i).
  struct Waiting {
    RankTree::Node node;
    const void* elements;
  };

  std::array<Waiting, 32> waiting{};
  std::size_t count = 0;
  const auto buffer = [&](std::size_t index) {
    if (index == 0) return into;
    while (scratch_.size() < index)
      scratch_.emplace_back(chunk_, arguments_.type);
    return scratch_[index - 1].buffer();
  };
  // From the last total to the first, each as far up as its right siblings are there.
  for (std::size_t i = totals.size(); i-- > 0;) {
    Waiting total{
        .node = totals[i].node,
        .elements = element_at(totals[i].elements, range.first - totals[i].first, arguments_.type)};
    for (; count > 0 && RankTree::are_siblings(total.node, waiting[count - 1].node); --count) {
      void* const result = buffer(count - 1);
      combine(arguments_, total.elements, waiting[count - 1].elements, result, range.count);
      total = {.node = tree_.parent(total.node), .elements = result};
    }
    waiting[count++] = total;
  }
  if (waiting[0].elements != into)
    copy_elements(waiting[0].elements, into, range.count, arguments_.type);
  SORREL_ASSERT(count == 1, "%zu totals make up %zu nodes", totals.size(), count);
}

}  // namespace sorrel::mpi
