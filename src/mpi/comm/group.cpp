#include "mpi/comm/group.hpp"

#include <algorithm>

namespace sorrel::mpi {

std::shared_ptr<const Group> Group::world(std::int32_t size) {
  std::shared_ptr<Group> group(new Group);
  group->is_world_ = true;
  group->size_ = size;
  return group;
}

std::shared_ptr<const Group> Group::of(std::vector<std::int32_t> world_ranks) {
  std::shared_ptr<Group> group(new Group);
  group->size_ = static_cast<std::int32_t>(world_ranks.size());
  group->world_ranks_ = std::move(world_ranks);
  const auto& ranks = group->world_ranks_;
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    group->positions_.reserve(ranks.size());
    for (std::int32_t i = 0; i < group->size_; ++i) {
      group->positions_.push_back({.world_rank = ranks[static_cast<std::size_t>(i)], .rank = i});
    }
    std::sort(group->positions_.begin(), group->positions_.end(),
              [](const Position& a, const Position& b) { return a.world_rank < b.world_rank; });
    SORREL_ASSERT(std::ranges::adjacent_find(group->positions_, {}, &Position::world_rank) ==
                      group->positions_.end(),
                  "a rank twice");
  } else {
    SORREL_ASSERT(std::ranges::adjacent_find(ranks) == ranks.end(), "a rank twice");
  }
  return group;
}

std::int32_t Group::rank_of(std::int32_t world_rank) const {
  if (is_world_) return world_rank >= 0 && world_rank < size_ ? world_rank : MPI_UNDEFINED;
  if (positions_.empty()) {
    const auto found = std::lower_bound(world_ranks_.begin(), world_ranks_.end(), world_rank);
    if (found == world_ranks_.end() || *found != world_rank) return MPI_UNDEFINED;
    return static_cast<std::int32_t>(found - world_ranks_.begin());
  }
  const auto found =
      std::lower_bound(positions_.begin(), positions_.end(), world_rank,
                       [](const Position& a, std::int32_t b) { return a.world_rank < b; });
  return found == positions_.end() || found->world_rank != world_rank ? MPI_UNDEFINED : found->rank;
}

MPI_Group make_group_handle(GroupHandle group) {
  if (group->size() == 0) return MPI_GROUP_EMPTY;
  return reinterpret_cast<MPI_Group>(new GroupHandle(std::move(group)));
}

const GroupHandle* group_of(MPI_Group handle) {
  static const GroupHandle empty{.group = Group::of({}), .session_sends = nullptr};
  return handle == MPI_GROUP_EMPTY ? &empty : object_of<GroupHandle>(handle);
}

}  // namespace sorrel::mpi
