//! Communicator - the state that its members share (CommShared) and each member's own (Comm).
//!
//! A Comm belongs to one rank and is accessed by that rank's worker only. A CommShared is constant
//! after construction, except its collective slots, which have their own protocol
//! (collectives/slots.hpp), and its reference count. Creating and ending both needs the slots, so
//! it is defined above, in job/comm_lifetime.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi.h"
#include "mpi/base/collective_call.hpp"
#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/comm/errhandler.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/info.hpp"

namespace sorrel::core {
struct Fiber;
}

namespace sorrel::mpi {

struct BarrierNode;
class CollectiveSlots;
struct CollectiveShadows;
class ProcessMap;
struct Neighborhood;
struct RankState;
class Topology;
class World;

struct BufferedSends;
struct File;
class OutstandingCollectives;
class PartitionedComm;

/// Lets owners do without the definition of BufferedSends.
struct BufferedSendsDeleter {
  void operator()(BufferedSends* sends) const;
};

/// Lets owners do without the definition of Neighborhood.
struct NeighborhoodDeleter {
  void operator()(const Neighborhood* neighborhood) const;
};

using BufferedSendsPointer = std::unique_ptr<BufferedSends, BufferedSendsDeleter>;

struct OutstandingCollectivesDeleter {
  void operator()(OutstandingCollectives* collectives) const;
};

using OutstandingCollectivesPointer =
    std::unique_ptr<OutstandingCollectives, OutstandingCollectivesDeleter>;

struct PartitionedCommDeleter {
  void operator()(PartitionedComm* partitioned) const;
};

enum class CommKind : std::uint8_t { intra, inter };

/// The state that the members of a communicator share, in this process. Of an intercommunicator:
/// those of one side; `group` is the remote one, since messages go there, and collectives are those
/// of InterPart::local.
class CommShared {
 public:
  CommShared(World& world,
             std::uint32_t context,
             std::shared_ptr<const Group> group,
             CommKind kind = CommKind::intra);
  ~CommShared();
  CommShared(const CommShared&) = delete;
  CommShared& operator=(const CommShared&) = delete;

  [[nodiscard]] World& world() const { return world_; }

  /// Separates the messages of this communicator from all others of the job.
  [[nodiscard]] std::uint32_t context() const { return context_; }

  [[nodiscard]] std::int32_t size() const { return size_; }

  [[nodiscard]] const std::shared_ptr<const Group>& group() const { return group_; }

  /// The state of a member. A member of another process is represented by the world's placeholder,
  /// whose worker is null.
  [[nodiscard]] RankState& member(std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < size_, "rank %d of %d", rank, size_);
    return *members_[rank];
  }

  /// How the members are spread over processes; null if all are in this one.
  [[nodiscard]] const ProcessMap* processes() const { return processes_.get(); }

  /// Not of an intercommunicator.
  [[nodiscard]] CollectiveSlots& slots() const {
    SORREL_ASSERT(slots_ != nullptr, "an intercommunicator has no slots");
    return *slots_;
  }

  [[nodiscard]] CommKind kind() const { return kind_; }

  /// While all workers of the job are stopped, after members have changed their process: as if it
  /// had just been made. No member is in a collective, and no view has used it since.
  void relocate();

  /// Made at the first call. Any thread that holds a reference.
  [[nodiscard]] CollectiveShadows& shadows();

  /// A communicator of the same group, of the kinds that CollectiveShadows numbers; made at the
  /// first call, with a context that follows from this one's. Any thread that holds a reference.
  [[nodiscard]] CommShared& shadow(std::uint32_t index);

  void retain() { holder_count_.fetch_add(1, std::memory_order_relaxed); }

  /// Deletes it with the last reference.
  void release();

 private:
  void make_parts();

  World& world_;
  const std::uint32_t context_;
  const CommKind kind_;
  const std::int32_t size_;
  const std::shared_ptr<const Group> group_;
  /// One pointer per member; the world's own array for the group of all ranks.
  RankState* const* members_;
  std::vector<RankState*> own_members_;
  std::unique_ptr<const ProcessMap> processes_;
  std::unique_ptr<CollectiveSlots> slots_;
  // (S) release by the member that makes it, acquire by the others.
  std::atomic<CollectiveShadows*> shadows_{nullptr};
  // Relaxed increments by a holder; the decrement to zero acquires what the other holders released.
  std::atomic<std::int32_t> holder_count_{0};
};

struct Comm;

/// What a view of an intercommunicator has beside.
struct InterPart {
  /// The intracommunicator of the local group, for this library only.
  Comm* local;
  /// Equal in all members of a group, and different in the two groups: tells which of them
  /// goes first where the standard leaves it open.
  bool is_first;
};

/// One rank's view of a communicator: what an MPI_Comm handle points to.
struct Comm : HandleObject<ObjectType::comm> {
  static constexpr ObjectKind object_kind = ObjectKind::comm;
  ObjectHeader header{object_kind};
  std::int32_t rank = 0;
  CommShared* shared = nullptr;
  /// The node where this rank's worker counts arrivals; found at the first collective.
  BarrierNode* barrier_node = nullptr;
  /// The current or last collective call of the rank.
  CollectiveCall call;
  /// Barriers of this communicator so far: selects one of the two staging buffers, and identifies
  /// late members in the deadlock report.
  std::uint32_t barrier_count = 0;
  /// References: the handle, until MPI_Comm_free, and pending requests.
  std::int32_t reference_count = 1;
  Errhandler* errhandler = nullptr;
  /// Null for an intracommunicator.
  std::unique_ptr<const InterPart> inter;
  std::shared_ptr<const Topology> topology;
  AttributeMapPointer attributes;
  std::unique_ptr<std::string> name;
  std::unique_ptr<Info> info;
  /// From the hints: long messages are read long after they have arrived.
  bool is_read_late = false;
  /// Sends and receives in progress that have no handle: buffered sends, requests that were freed.
  std::int32_t released_count = 0;
  /// The fiber that waits for the end of these; null: none.
  core::Fiber* disconnecting = nullptr;
  BufferedSendsPointer buffered_sends;
  /// The buffer of the session from which the communicator is derived; null without a session.
  std::shared_ptr<BufferedSends> session_sends;
  /// The file whose own communicator this is; its error handler gets errors of requests. Else null.
  File* file = nullptr;
  /// Null until the first nonblocking collective.
  OutstandingCollectivesPointer outstanding;
  /// Null until the first partitioned message.
  std::unique_ptr<PartitionedComm, PartitionedCommDeleter> partitioned;
  /// This rank's neighbours in the topology; found at the first neighbourhood collective.
  std::unique_ptr<const Neighborhood, NeighborhoodDeleter> neighborhood;

  /// Ranks to which messages can be sent: of an intercommunicator, those of the remote group.
  [[nodiscard]] std::int32_t size() const { return shared->size(); }
};

/// The intracommunicator of the caller's group: the communicator itself, or an intercommunicator's.
[[nodiscard]] inline const Comm& local_part_of(const Comm& comm) {
  return comm.inter == nullptr ? comm : *comm.inter->local;
}

/// The group of which the caller is a member.
[[nodiscard]] inline const std::shared_ptr<const Group>& local_group_of(const Comm& comm) {
  return local_part_of(comm).shared->group();
}

[[nodiscard]] inline std::int32_t local_size_of(const Comm& comm) {
  return local_part_of(comm).size();
}

/// Whether no other rank takes part in a collective.
[[nodiscard]] inline bool is_alone(const Comm& comm) {
  return comm.inter == nullptr && comm.size() == 1;
}

/// Whether the caller is the root of a rooted collective.
[[nodiscard]] inline bool is_root_of(const Comm& comm, std::int32_t root) {
  return comm.inter == nullptr ? comm.rank == root : root == MPI_ROOT;
}

/// A new view of `shared` for its member `rank`, with the error handler of `parent`.
Comm* make_comm(CommShared& shared, std::int32_t rank, const Comm& parent);

/// A new view as a duplicate of `parent` whose shared part is made later: not a valid communicator
/// until complete_comm().
[[nodiscard]] Comm& make_incomplete_comm(const Comm& parent);

/// Takes over the caller's reference to `shared`, and to the local part of an intercommunicator.
void complete_comm(Comm& comm, CommShared& shared, std::unique_ptr<const InterPart> inter);

/// Ends a communicator that has not been completed.
void abandon(Comm& incomplete);

/// A new view of an intercommunicator; takes over the reference to `part.local`.
Comm* make_inter_comm(CommShared& shared, const InterPart& part, const Comm& parent);

/// The caller's view of a shadow (CommShared::shadow()) of a communicator of either kind.
[[nodiscard]] Comm* make_shadow_view(Comm& comm, std::uint32_t index);

inline void retain(Comm& comm) {
  SORREL_ASSERT(comm.reference_count > 0, "the communicator has ended");
  ++comm.reference_count;
}

/// Ends a view without references, and with the last view the shared state.
[[gnu::cold]] void end(Comm& comm);

/// Drops one reference; the last one ends the view.
inline void release(Comm& comm) {
  SORREL_ASSERT(comm.reference_count > 0, "released more often than retained");
  if (--comm.reference_count == 0) [[unlikely]]
    end(comm);
}

inline MPI_Comm handle_of(Comm& comm) {
  return reinterpret_cast<MPI_Comm>(&comm);
}

}  // namespace sorrel::mpi
