//! Group - an ordered set of the job's ranks. Immutable, shared by its holders, any thread may
//! read.
//!
//! The group of MPI_COMM_WORLD is stored without a list, so that it costs nothing for 10^5 ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "mpi.h"
#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"

namespace sorrel::mpi {

struct BufferedSends;

class Group {
 public:
  /// Every rank of the job, in order.
  static std::shared_ptr<const Group> world(std::int32_t size);

  /// The given ranks of the job, in the given order; no rank twice.
  static std::shared_ptr<const Group> of(std::vector<std::int32_t> world_ranks);

  [[nodiscard]] std::int32_t size() const { return size_; }

  [[nodiscard]] std::int32_t world_rank(std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < size_, "rank %d of %d", rank, size_);
    return is_world_ ? rank : world_ranks_[static_cast<std::size_t>(rank)];
  }

  /// The rank in this group of a rank of the job, or MPI_UNDEFINED. O(log size).
  [[nodiscard]] std::int32_t rank_of(std::int32_t world_rank) const;

  [[nodiscard]] bool is_world() const { return is_world_; }

 private:
  struct Position {
    std::int32_t world_rank;
    std::int32_t rank;
  };

  Group() = default;

  bool is_world_ = false;
  std::int32_t size_ = 0;
  std::vector<std::int32_t> world_ranks_;
  /// Sorted by world rank; empty when world_ranks_ itself is sorted.
  std::vector<Position> positions_;
};

/// Target of an MPI_Group handle: one rank's reference to a group.
struct GroupHandle {
  // No base, so that its members can be initialized by name.
  static void* operator new(std::size_t bytes) {
    return HandleObject<ObjectType::group>::operator new(bytes);
  }

  static void operator delete(void* object) noexcept { release_object(object); }

  static constexpr ObjectKind object_kind = ObjectKind::group;
  ObjectHeader header{object_kind};
  std::shared_ptr<const Group> group;
  /// The buffer of the session from which the group is derived; null without a session.
  std::shared_ptr<BufferedSends> session_sends;

  const Group* operator->() const { return group.get(); }

  const Group& operator*() const { return *group; }
};

/// A new handle; the caller's rank owns it. MPI_GROUP_EMPTY when the group has no members.
MPI_Group make_group_handle(GroupHandle group);

/// The object of a handle; null for MPI_GROUP_NULL and for an invalid handle.
const GroupHandle* group_of(MPI_Group handle);

}  // namespace sorrel::mpi
