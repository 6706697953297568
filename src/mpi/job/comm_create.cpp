#include "mpi/job/comm_create.hpp"

#include <algorithm>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/job/intercomm.hpp"
#include "mpi/job/job_comm.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// What a member publishes for the creator, and where the creator stores the answer.
struct SplitRequest {
  int color;
  int key;
  CommShared* shared = nullptr;
};

struct Candidate {
  int color;
  int key;
  std::int32_t rank;
};

/// The member that creates the shared parts in this process: member 0, or the first of each
/// process.
std::int32_t creator_of(const Comm& parent) {
  return first_member_here(parent.shared->processes());
}

bool is_here(const Comm& parent, std::int32_t rank) {
  const ProcessMap* processes = parent.shared->processes();
  return processes == nullptr || processes->index_of(rank) == processes->own_index();
}

SplitRequest& request_of(const CollectiveSlots& slots, std::int32_t rank) {
  return const_cast<SplitRequest&>(slots.published_by<SplitRequest>(rank));
}

/// Creates the shared part for the candidates [first, last), all of one color, and passes it to
/// those of this process, if any.
void make_shared_for(Comm& parent,
                     std::uint32_t context,
                     const Candidate* first,
                     const Candidate* last) {
  const auto is_candidate_here = [&](const Candidate& c) { return is_here(parent, c.rank); };
  if (std::none_of(first, last, is_candidate_here)) return;
  std::vector<std::int32_t> world_ranks;
  for (const Candidate* c = first; c != last; ++c)
    world_ranks.push_back(parent.shared->group()->world_rank(c->rank));
  World& world = parent.shared->world();
  auto* shared = new CommShared(world, context, Group::of(std::move(world_ranks)));
  for (const Candidate* c = first; c != last; ++c) {
    if (!is_candidate_here(*c)) continue;
    // The member's own reference, taken for it now: the first member to finish must not delete the
    // object before the later ones have taken it.
    shared->retain();
    request_of(parent.shared->slots(), c->rank).shared = shared;
  }
}

/// Colors and keys of all members; those without a color are left out. Ordered by color, key, rank.
std::vector<Candidate> ordered(std::vector<Candidate> candidates) {
  std::erase_if(candidates, [](const Candidate& c) { return c.color == MPI_UNDEFINED; });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.color != b.color) return a.color < b.color;
    return a.key != b.key ? a.key < b.key : a.rank < b.rank;
  });
  return candidates;
}

std::uint32_t color_count(const std::vector<Candidate>& candidates) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    count += i == 0 || candidates[i].color != candidates[i - 1].color ? 1 : 0;
  return count;
}

/// Creates a communicator for each color, with contexts from `first_context` on.
void split_all(Comm& parent,
               const std::vector<Candidate>& candidates,
               std::uint32_t first_context) {
  std::uint32_t context = first_context;
  for (std::size_t first = 0; first < candidates.size();) {
    std::size_t last = first;
    while (last < candidates.size() && candidates[last].color == candidates[first].color)
      ++last;
    make_shared_for(parent, context, candidates.data() + first, candidates.data() + last);
    context += parent.shared->world().context_step();
    first = last;
  }
}

/// The member's own view of what the creator has made; takes over the member's reference.
Comm* adopt(CommShared& shared, const RankState& self, const Comm& parent) {
  Comm* comm = make_comm(shared, shared.group()->rank_of(self.world_rank), parent);
  shared.release();
  return comm;
}

/// Barrier of a process's members, the creator answers their requests, and a second barrier.
template <class Answer>
int run_on_creator(RankState& self, Comm& parent, SplitRequest& request, Answer&& answer) {
  CollectiveSlots& slots = parent.shared->slots();
  slots.publish(parent, &request);
  if (const int error = slots.local_barrier(self, parent); error != MPI_SUCCESS) return error;
  if (parent.rank == creator_of(parent)) answer(slots);
  return slots.local_barrier(self, parent);
}

/// `count` new contexts, the same for all members of the parent: issued by its first member's
/// process. May suspend.
std::uint32_t agree_on_contexts(RankState& self, Comm& parent, std::uint32_t count) {
  std::uint32_t context = 0;
  if (parent.rank == 0) context = parent.shared->world().new_contexts(count);
  const TypedBuffer buffer{
      .buffer = &context, .count = 1, .type = datatype_from_handle(MPI_UINT32_T)};
  (void)broadcast({self, parent}, buffer, 0);
  SORREL_ASSERT(context != 0, "the context of the job's world, or none has come");
  return context;
}

/// Colors and keys of all members, gathered over processes. May suspend.
std::vector<Candidate> gather_candidates(RankState& self, Comm& parent, Candidate own) {
  std::vector<Candidate> all(static_cast<std::size_t>(parent.size()));
  const TypedBuffer send{
      .buffer = &own, .count = sizeof own, .type = datatype_from_handle(MPI_BYTE)};
  const BlockList receive{
      .buffer = all.data(), .count = sizeof own, .type = datatype_from_handle(MPI_BYTE)};
  (void)all_gather({self, parent}, &send, receive);
  return all;
}

/// A parent with one member needs no communication.
CommShared* make_alone(const RankState& self, Comm& parent) {
  World& world = parent.shared->world();
  auto* shared = new CommShared(world, world.new_context(), Group::of({self.world_rank}));
  shared->retain();
  return shared;
}

/// The group's first member issues the context; the first of each process creates the shared part
/// and sends its address to the members of its process. May suspend.
CommShared* shared_for_group(const Member& member,
                             const std::shared_ptr<const Group>& group,
                             std::int32_t own_rank,
                             std::int32_t tag) {
  World& world = member.comm.shared->world();
  const auto parent_rank = [&](std::int32_t rank) {
    return member.comm.shared->group()->rank_of(group->world_rank(rank));
  };
  const auto creator_for = [&](std::int32_t rank) {
    std::int32_t first = 0;
    const std::uint32_t process = world.process_of(group->world_rank(rank));
    while (world.process_of(group->world_rank(first)) != process)
      ++first;
    return first;
  };
  const std::int32_t creator = creator_for(own_rank);
  CommShared* shared = nullptr;
  const TypedBuffer address{.buffer = &shared, .count = 1, .type = datatype_from_handle(MPI_AINT)};
  if (own_rank != creator) {
    receive_now(member, address, parent_rank(creator), tag);
    return shared;
  }
  std::uint32_t context = 0;
  const TypedBuffer number{
      .buffer = &context, .count = 1, .type = datatype_from_handle(MPI_UINT32_T)};
  if (own_rank == 0) {
    context = world.new_context();
  } else {
    receive_now(member, number, parent_rank(0), tag);
  }
  SORREL_ASSERT(context != 0, "the context of the job's world, or none has come");
  shared = new CommShared(world, context, group);
  for (std::int32_t rank = 0; rank < group->size(); ++rank) {
    if (world.is_here(group->world_rank(rank))) {
      shared->retain();
      if (rank != own_rank) send_now(member, address, parent_rank(rank), tag);
    } else if (own_rank == 0 && rank == creator_for(rank)) {
      send_now(member, number, parent_rank(rank), tag);
    }
  }
  return shared;
}

/// The shared part of a duplicate of an intracommunicator, with a reference for the caller.
int duplicate_shared(RankState& self, Comm& parent, CommShared** result) {
  if (parent.size() == 1) {
    *result = make_alone(self, parent);
    return MPI_SUCCESS;
  }
  World& world = parent.shared->world();
  const bool is_spread = parent.shared->processes() != nullptr;
  const std::uint32_t agreed = is_spread ? agree_on_contexts(self, parent, 1) : 0;
  SplitRequest request{.color = 0, .key = 0};
  const int error = run_on_creator(self, parent, request, [&](const CollectiveSlots& slots) {
    const std::uint32_t context = is_spread ? agreed : world.new_context();
    auto* shared = new CommShared(world, context, parent.shared->group());
    for (std::int32_t rank = 0; rank < parent.size(); ++rank) {
      if (!is_here(parent, rank)) continue;
      shared->retain();
      request_of(slots, rank).shared = shared;
    }
  });
  *result = request.shared;
  return error;
}

/// A duplicate of `parent`, whose `call` is the caller's; null after an error.
int duplicate(RankState& self, Comm& parent, Comm** result) {
  *result = nullptr;
  Comm& copy = make_incomplete_comm(parent);
  const int error = duplicate_into(self, parent, copy);
  if (error == MPI_SUCCESS) {
    *result = &copy;
  } else {
    abandon(copy);
  }
  return error;
}

}  // namespace

int duplicate_into(RankState& self, Comm& parent, Comm& copy) {
  CommShared* shared = nullptr;
  std::unique_ptr<const InterPart> inter;
  const int error = parent.inter == nullptr ? duplicate_shared(self, parent, &shared)
                                            : inter_duplicate(self, parent, &inter, &shared);
  if (error == MPI_SUCCESS) complete_comm(copy, *shared, std::move(inter));
  return error;
}

int comm_duplicate(RankState& self, Comm& parent, Comm** result) {
  parent.call = CollectiveCall({.kind = CollectiveKind::comm_dup});
  return duplicate(self, parent, result);
}

int make_shadow(RankState& self, Comm& parent, Comm** result) {
  const int error = duplicate(self, parent, result);
  if (error == MPI_SUCCESS) (*result)->is_read_late = parent.is_read_late;
  return error;
}

int comm_split(RankState& self, Comm& parent, int color, int key, Comm** result) {
  *result = nullptr;
  if (color < 0 && color != MPI_UNDEFINED) {
    return self.fail(MPI_ERR_ARG, "color is %d; it must be at least 0, or MPI_UNDEFINED", color);
  }
  if (parent.inter != nullptr) return inter_split(self, parent, color, key, result);
  SplitRequest request{.color = color, .key = key};
  parent.call = CollectiveCall({.kind = CollectiveKind::comm_split});
  int error = MPI_SUCCESS;
  if (parent.size() == 1) {
    if (color != MPI_UNDEFINED) request.shared = make_alone(self, parent);
  } else if (parent.shared->processes() != nullptr) {
    auto candidates =
        gather_candidates(self, parent, {.color = color, .key = key, .rank = parent.rank});
    // Only a creator needs their order; member 0 is one.
    if (parent.rank == creator_of(parent)) candidates = ordered(std::move(candidates));
    const std::uint32_t context = agree_on_contexts(self, parent, color_count(candidates));
    error = run_on_creator(self, parent, request,
                           [&](const CollectiveSlots&) { split_all(parent, candidates, context); });
  } else {
    error = run_on_creator(self, parent, request, [&](const CollectiveSlots& slots) {
      std::vector<Candidate> candidates;
      for (std::int32_t rank = 0; rank < parent.size(); ++rank) {
        const SplitRequest& theirs = request_of(slots, rank);
        candidates.push_back({.color = theirs.color, .key = theirs.key, .rank = rank});
      }
      candidates = ordered(std::move(candidates));
      const std::uint32_t context = parent.shared->world().new_contexts(color_count(candidates));
      split_all(parent, candidates, context);
    });
  }
  if (request.shared != nullptr) *result = adopt(*request.shared, self, parent);
  return error;
}

int comm_create(RankState& self, Comm& parent, std::shared_ptr<const Group> group, Comm** result) {
  for (std::int32_t i = 0; i < group->size(); ++i) {
    if (local_group_of(parent)->rank_of(group->world_rank(i)) == MPI_UNDEFINED) {
      return self.fail(
          MPI_ERR_GROUP,
          "rank %d of group is not in comm; group must be a subset of the group of comm", i);
    }
  }
  // Disjoint groups are colors: the color is the first member of the group, the key the position in
  // the group.
  const std::int32_t key = group->rank_of(self.world_rank);
  // In an intercommunicator there is one pair of groups, so all members use one color.
  const int first = parent.inter != nullptr || group->size() == 0 ? 0 : group->world_rank(0);
  const int color = key == MPI_UNDEFINED ? MPI_UNDEFINED : first;
  return comm_split(self, parent, color, key, result);
}

int comm_create_group(
    RankState& self, Comm& parent, std::shared_ptr<const Group> group, int tag, Comm** result) {
  *result = nullptr;
  const std::int32_t own_rank = group->rank_of(self.world_rank);
  if (own_rank == MPI_UNDEFINED) return MPI_SUCCESS;
  *result = adopt(*shared_for_group({self, parent}, group, own_rank, group_creation_tag(tag)), self,
                  parent);
  return MPI_SUCCESS;
}

Comm* create_without_parent(RankState& self,
                            const std::shared_ptr<const Group>& group,
                            const Comm& like,
                            std::int32_t tag) {
  const std::int32_t own_rank = group->rank_of(self.world_rank);
  SORREL_ASSERT(own_rank != MPI_UNDEFINED, "called by the members of the group only");
  // All members of the group choose the same communicator.
  Comm& comm = is_within_world(self, *group) ? self.world_comm : job_comm_of(self);
  return adopt(*shared_for_group({self, comm}, group, own_rank, tag), self, like);
}

}  // namespace sorrel::mpi
