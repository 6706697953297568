#include "mpi/collectives/vector_fold.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "mpi/comm/group.hpp"

namespace sorrel::mpi {

/// Vectors of members in different calls are not combined.
void fold_members(BarrierNode& barrier_node,
                  const BarrierMembers& members,
                  const void* const* published) {
  if (barrier_node.has_mismatch()) return;
  std::unique_ptr<NodeFold>& fold = barrier_node.fold_of(barrier_node.barrier_number).members;
  if (fold == nullptr) {
    // A member's own vector may change while the peer reads the total.
    const auto alone =
        barrier_node.peer == nullptr ? NodeFold::Alone::as_it_is : NodeFold::Alone::copied;
    fold =
        std::make_unique<NodeFold>(members.group.size(), members.on(*barrier_node.worker), alone);
  }
  fold->fold(*barrier_node.vectors, published);
}

void fold_others(BarrierNode& barrier_node,
                 const BarrierMembers& members,
                 const void* const* published) {
  const ReductionArguments& arguments = *std::exchange(barrier_node.vectors, nullptr);
  const bool is_needed = std::exchange(barrier_node.is_total_needed, false);
  // A pair's other node may need it, which computes its own.
  if (barrier_node.has_mismatch() || (barrier_node.peer != nullptr && !is_needed)) return;
  const std::uint32_t number = barrier_node.barrier_number;
  VectorFold& fold = barrier_node.fold_of(number);
  if (fold.with_others == nullptr) {
    std::vector<const NodeFold*> parts;
    for (BarrierNode* child : barrier_node.children)
      parts.push_back(&child->fold_of(number).last());
    if (barrier_node.peer != nullptr)
      parts.push_back(barrier_node.peer->fold_of(number).members.get());
    if (parts.empty()) return;
    parts.push_back(fold.members.get());
    fold.with_others = std::make_unique<NodeFold>(members.group.size(), parts);
  }
  fold.with_others->fold(arguments, published);
}

}  // namespace sorrel::mpi
