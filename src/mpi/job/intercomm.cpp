#include "mpi/job/intercomm.hpp"

#include <algorithm>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The rank that represents its group in an existing intercommunicator.
constexpr std::int32_t leader = 0;

template <class T>
TypedBuffer bytes_of(T* values, std::size_t count) {
  return {.buffer = values, .count = count * sizeof(T), .type = datatype_from_handle(MPI_BYTE)};
}

/// Sends values from the leader to all members of a group. May suspend.
template <class T>
int tell_group(RankState& self, Comm& local, T* values, std::size_t count, std::int32_t root) {
  const TypedBuffer buffer = bytes_of(values, count);
  local.call = CollectiveCall(
      {.kind = CollectiveKind::intercomm_create, .root = root, .bytes = buffer.bytes()});
  return broadcast({self, local}, buffer, root);
}

/// One message to the other leader, and one from it. May suspend.
struct LeaderLine {
  RankState& self;
  Comm& comm;
  std::int32_t rank;
  std::int32_t tag;

  template <class T>
  void exchange(T* send, std::size_t send_count, T* receive, std::size_t receive_count) const {
    Traffic traffic({self, comm}, tag);
    traffic.receive(bytes_of(receive, receive_count), rank);
    traffic.send(bytes_of(send, send_count), rank);
    const int error = traffic.finish();
    SORREL_ASSERT(error == MPI_SUCCESS, "the leaders disagree about the length of a message");
    static_cast<void>(error);
  }
};

/// Adopts the member's reference to the shared part.
Comm* view_of(CommShared& shared, const InterPart& part, const Comm& like) {
  Comm* comm = make_inter_comm(shared, part, like);
  shared.release();
  return comm;
}

/// What a leader tells the other one, and its group.
struct Introduction {
  std::int32_t error = MPI_SUCCESS;
  std::int32_t size = 0;
  std::int32_t leader_world_rank = 0;
  /// Used if this is the first side.
  std::uint32_t context = 0;
};

std::vector<std::int32_t> world_ranks_of(const Group& group) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < group.size(); ++rank)
    ranks.push_back(group.world_rank(rank));
  return ranks;
}

int describe(RankState& self, const Introduction& theirs) {
  switch (theirs.error) {
    case MPI_SUCCESS:
      return MPI_SUCCESS;
    case MPI_ERR_RANK:
      return self.fail(MPI_ERR_RANK, "remote_leader is not a rank of peer_comm at a leader");
    default:
      return self.fail(theirs.error,
                       "peer_comm is not a valid communicator at a leader, or the groups have a "
                       "rank in common");
  }
}

/// At the leader: introduces its group to the other one. Returns that group's ranks.
std::vector<std::int32_t> introduce(RankState& self,
                                    const Group& own_group,
                                    const LeaderPeer& peer,
                                    Introduction& own,
                                    Introduction& theirs) {
  std::vector<std::int32_t> remote;
  if (peer.comm == nullptr) {
    theirs.error = MPI_ERR_COMM;
    return remote;
  }
  if (peer.rank < 0 || peer.rank >= peer.comm->size()) {
    theirs.error = MPI_ERR_RANK;
    return remote;
  }
  const LeaderLine line{self, *peer.comm, peer.rank, group_creation_tag(peer.tag)};
  line.exchange(&own, 1, &theirs, 1);
  remote.resize(static_cast<std::size_t>(theirs.size));
  std::vector<std::int32_t> ranks = world_ranks_of(own_group);
  line.exchange(ranks.data(), ranks.size(), remote.data(), remote.size());
  for (const std::int32_t rank : remote) {
    if (own_group.rank_of(rank) != MPI_UNDEFINED) theirs.error = MPI_ERR_COMM;
  }
  return remote;
}

/// A member of a group that is split.
struct Candidate {
  std::int32_t color;
  std::int32_t key;
  std::int32_t world_rank;
};

/// The members of both groups, as every member knows them.
struct BothGroups {
  std::vector<Candidate> own;
  std::vector<Candidate> remote;
  std::uint32_t first_context = 0;
};

std::vector<std::int32_t> colors_of(const std::vector<Candidate>& candidates) {
  std::vector<std::int32_t> colors;
  for (const Candidate& candidate : candidates) {
    if (candidate.color != MPI_UNDEFINED) colors.push_back(candidate.color);
  }
  std::sort(colors.begin(), colors.end());
  colors.erase(std::unique(colors.begin(), colors.end()), colors.end());
  return colors;
}

/// Colors that both groups have, ascending.
std::vector<std::int32_t> common_colors(const BothGroups& groups) {
  const std::vector<std::int32_t> own = colors_of(groups.own);
  const std::vector<std::int32_t> remote = colors_of(groups.remote);
  std::vector<std::int32_t> common;
  std::set_intersection(own.begin(), own.end(), remote.begin(), remote.end(),
                        std::back_inserter(common));
  return common;
}

/// The members of one color, in the order of keys and of ranks.
std::shared_ptr<const Group> group_of_color(std::vector<Candidate> candidates, int color) {
  std::erase_if(candidates, [&](const Candidate& c) { return c.color != color; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.key < b.key; });
  std::vector<std::int32_t> ranks;
  for (const Candidate& candidate : candidates)
    ranks.push_back(candidate.world_rank);
  return Group::of(std::move(ranks));
}

/// Gathers both groups at all members, and contexts for the colors that they share.
int learn_groups(RankState& self, Comm& parent, Candidate own, BothGroups* groups) {
  Comm& local = *parent.inter->local;
  const bool is_first = parent.inter->is_first;
  groups->own.resize(static_cast<std::size_t>(local.size()));
  groups->remote.resize(static_cast<std::size_t>(parent.size()));
  const TypedBuffer send = bytes_of(&own, 1);
  const BlockList receive{.buffer = groups->own.data(), .count = sizeof own, .type = send.type};
  local.call = CollectiveCall({.kind = CollectiveKind::intercomm_create, .bytes = sizeof own});
  int error = all_gather({self, local}, &send, receive);
  if (error != MPI_SUCCESS) return error;
  if (local.rank == leader) {
    const LeaderLine line{self, parent, leader, leader_tag};
    line.exchange(groups->own.data(), groups->own.size(), groups->remote.data(),
                  groups->remote.size());
    std::uint32_t context = 0;
    if (is_first) {
      const std::size_t count = common_colors(*groups).size();
      context = self.world->new_contexts(static_cast<std::uint32_t>(count));
    }
    std::uint32_t theirs = 0;
    line.exchange(&context, 1, &theirs, 1);
    groups->first_context = is_first ? context : theirs;
  }
  error = tell_group(self, local, groups->remote.data(), groups->remote.size(), leader);
  if (error == MPI_SUCCESS) error = tell_group(self, local, &groups->first_context, 1, leader);
  return error;
}

/// The shared part of the side of an intercommunicator whose local communicator is `local`, with a
/// reference for the caller. Collective over `local`.
int make_shared_side(RankState& self,
                     Comm& local,
                     const std::shared_ptr<const Group>& remote,
                     std::uint32_t context,
                     CommShared** result) {
  World& world = *self.world;
  const auto make = [&] { return new CommShared(world, context, remote, CommKind::inter); };
  CommShared* shared = nullptr;
  if (local.size() == 1) {
    shared = make();
    shared->retain();
  } else {
    CollectiveSlots& slots = local.shared->slots();
    local.call = CollectiveCall({.kind = CollectiveKind::intercomm_create});
    slots.publish(local, &shared);
    if (const int error = slots.local_barrier(self, local); error != MPI_SUCCESS) return error;
    if (local.rank == first_member_here(local.shared->processes())) {
      CommShared* made = make();
      for (std::int32_t rank = 0; rank < local.size(); ++rank) {
        if (!world.is_here(local.shared->group()->world_rank(rank))) continue;
        made->retain();
        const_cast<CommShared*&>(slots.published_by<CommShared*>(rank)) = made;
      }
    }
    if (const int error = slots.local_barrier(self, local); error != MPI_SUCCESS) return error;
  }
  *result = shared;
  return MPI_SUCCESS;
}

/// The side whose local communicator is that of `part`, with the error handler of `like`.
int make_side(RankState& self,
              const InterPart& part,
              const std::shared_ptr<const Group>& remote,
              std::uint32_t context,
              const Comm& like,
              Comm** result) {
  CommShared* shared = nullptr;
  const int error = make_shared_side(self, *part.local, remote, context, &shared);
  if (error == MPI_SUCCESS) *result = view_of(*shared, part, like);
  return error;
}

}  // namespace

int make_inter_side(RankState& self,
                    const InterPart& part,
                    const std::shared_ptr<const Group>& remote,
                    std::uint32_t context,
                    const Comm& like,
                    Comm** result) {
  const int error = make_side(self, part, remote, context, like, result);
  if (error != MPI_SUCCESS) release(*part.local);
  return error;
}

int intercomm_create(RankState& self,
                     Comm& local,
                     std::int32_t local_leader,
                     const LeaderPeer& peer,
                     Comm** result) {
  *result = nullptr;
  Comm* base = nullptr;
  int error = comm_duplicate(self, local, &base);
  if (error != MPI_SUCCESS) return error;
  Introduction own;
  Introduction theirs;
  std::vector<std::int32_t> remote;
  if (local.rank == local_leader) {
    own = {.size = local.size(),
           .leader_world_rank = self.world_rank,
           .context = self.world->new_context()};
    remote = introduce(self, *local.shared->group(), peer, own, theirs);
  }
  error = tell_group(self, *base, &theirs, 1, local_leader);
  if (error == MPI_SUCCESS) error = tell_group(self, *base, &own, 1, local_leader);
  if (error == MPI_SUCCESS) error = describe(self, theirs);
  if (error == MPI_SUCCESS) {
    remote.resize(static_cast<std::size_t>(theirs.size));
    error = tell_group(self, *base, remote.data(), remote.size(), local_leader);
  }
  if (error != MPI_SUCCESS) {
    release(*base);
    return error;
  }
  const bool is_first = own.leader_world_rank < theirs.leader_world_rank;
  const std::uint32_t context = is_first ? own.context : theirs.context;
  return make_inter_side(self, {.local = base, .is_first = is_first}, Group::of(std::move(remote)),
                         context, local, result);
}

int intercomm_merge(RankState& self, Comm& comm, bool is_high, Comm** result) {
  *result = nullptr;
  Comm& local = *comm.inter->local;
  // The value of each group's first rank counts.
  std::int32_t own = is_high ? 1 : 0;
  std::int32_t theirs = 0;
  if (local.rank == leader)
    LeaderLine{self, comm, leader, leader_tag}.exchange(&own, 1, &theirs, 1);
  int error = tell_group(self, local, &own, 1, leader);
  if (error == MPI_SUCCESS) error = tell_group(self, local, &theirs, 1, leader);
  if (error != MPI_SUCCESS) return error;
  const bool is_own_first = own == theirs ? comm.inter->is_first : own < theirs;
  const Group& first = is_own_first ? *local.shared->group() : *comm.shared->group();
  const Group& second = is_own_first ? *comm.shared->group() : *local.shared->group();
  std::vector<std::int32_t> ranks = world_ranks_of(first);
  const std::vector<std::int32_t> more = world_ranks_of(second);
  ranks.insert(ranks.end(), more.begin(), more.end());
  *result = create_without_parent(self, Group::of(std::move(ranks)), comm, world_creation_tag);
  return MPI_SUCCESS;
}

int inter_duplicate(RankState& self,
                    Comm& parent,
                    std::unique_ptr<const InterPart>* part,
                    CommShared** shared) {
  Comm* base = nullptr;
  parent.inter->local->call = parent.call;
  int error = make_shadow(self, *parent.inter->local, &base);
  if (error != MPI_SUCCESS) return error;
  const bool is_first = parent.inter->is_first;
  std::uint32_t context = 0;
  if (base->rank == leader) {
    std::uint32_t own = is_first ? self.world->new_context() : 0;
    std::uint32_t theirs = 0;
    LeaderLine{self, parent, leader, leader_tag}.exchange(&own, 1, &theirs, 1);
    context = is_first ? own : theirs;
  }
  error = tell_group(self, *base, &context, 1, leader);
  if (error == MPI_SUCCESS)
    error = make_shared_side(self, *base, parent.shared->group(), context, shared);
  if (error == MPI_SUCCESS) {
    *part = std::make_unique<const InterPart>(InterPart{.local = base, .is_first = is_first});
  } else {
    release(*base);
  }
  return error;
}

int inter_split(RankState& self, Comm& parent, int color, int key, Comm** result) {
  *result = nullptr;
  BothGroups groups;
  int error = learn_groups(self, parent,
                           {.color = color, .key = key, .world_rank = self.world_rank}, &groups);
  if (error != MPI_SUCCESS) return error;
  Comm* base = nullptr;
  error = comm_split(self, *parent.inter->local, color, key, &base);
  if (error != MPI_SUCCESS || base == nullptr) return error;
  const std::vector<std::int32_t> common = common_colors(groups);
  const auto found = std::find(common.begin(), common.end(), color);
  if (found == common.end()) {
    release(*base);
    return MPI_SUCCESS;
  }
  const std::uint32_t context =
      groups.first_context +
      static_cast<std::uint32_t>(found - common.begin()) * self.world->context_step();
  return make_side(self, {.local = base, .is_first = parent.inter->is_first},
                   group_of_color(std::move(groups.remote), color), context, parent, result);
}

}  // namespace sorrel::mpi
