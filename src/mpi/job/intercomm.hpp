//! Creating intercommunicators, and communicators from them. All functions are collective over both
//! groups and may suspend.
//!
//! A side of an intercommunicator is an intracommunicator of its group (InterPart::local), which
//! the program does not see, and in each process one shared part, whose group is the remote one.
//! Both sides have the same context: the groups have no rank in common, so a rank's table holds the
//! messages of one side only. The leaders of the groups exchange what the groups must know of each
//! other, and broadcast it in theirs; errors that one leader sees travel the same way, so that all
//! members get them.
#pragma once

#include "mpi/comm/comm.hpp"

namespace sorrel::mpi {

/// How the leader of a group reaches the other leader; significant at the leader.
struct LeaderPeer {
  /// Null: not a valid communicator.
  Comm* comm;
  std::int32_t rank;
  std::int32_t tag;
};

/// MPI_Intercomm_create. MPI_ERR_COMM: a leader's peer communicator is not valid, or the groups
/// have a rank in common; MPI_ERR_RANK: no such remote leader.
[[nodiscard]] int intercomm_create(
    RankState& self, Comm& local, std::int32_t local_leader, const LeaderPeer& peer, Comm** result);

/// MPI_Intercomm_merge: the group whose first rank passes `is_high` comes second; where both pass
/// the same, the first side comes first.
[[nodiscard]] int intercomm_merge(RankState& self, Comm& comm, bool is_high, Comm** result);

/// The parts of a duplicate of an intercommunicator, whose `call` is the caller's, with references
/// for the caller.
[[nodiscard]] int inter_duplicate(RankState& self,
                                  Comm& parent,
                                  std::unique_ptr<const InterPart>* part,
                                  CommShared** shared);

/// One intercommunicator for each color that both groups have; null for other ranks.
[[nodiscard]] int inter_split(RankState& self, Comm& parent, int color, int key, Comm** result);

/// The caller's side of an intercommunicator whose other group, and context, every member of
/// `local` knows already; collective over `local`, an intracommunicator of the library. Takes over
/// the reference to it, after an error too.
[[nodiscard]] int make_inter_side(RankState& self,
                                  const InterPart& part,
                                  const std::shared_ptr<const Group>& remote,
                                  std::uint32_t context,
                                  const Comm& like,
                                  Comm** result);

/// A communicator of `group`, called by its members only, without a parent: by messages on their
/// MPI_COMM_WORLD, or that of the job. Creations with the same internal tag of which two ranks are
/// members must be called by both in the same order. Its error handler is `like`'s.
[[nodiscard]] Comm* create_without_parent(RankState& self,
                                          const std::shared_ptr<const Group>& group,
                                          const Comm& like,
                                          std::int32_t tag);

}  // namespace sorrel::mpi
