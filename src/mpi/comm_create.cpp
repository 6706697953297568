#include "mpi/comm_create.hpp"

#include <algorithm>
#include <vector>

#include "mpi/collectives/slots.hpp"
#include "mpi/p2p/receive.hpp"
#include "mpi/p2p/send.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// What a member leaves for member 0, and where member 0 leaves the answer.
struct SplitRequest {
  int color;
  int key;
  std::shared_ptr<const Group> group;
  CommShared* shared = nullptr;
};

struct Candidate {
  int color;
  int key;
  std::int32_t rank;
};

SplitRequest& request_of(const CollectiveSlots& slots, std::int32_t rank) {
  return const_cast<SplitRequest&>(slots.left_by<SplitRequest>(rank));
}

/// Makes the shared part for the candidates [first, last), who have one color.
void make_shared_for(Comm& parent,
                     const CollectiveSlots& slots,
                     const Candidate* first,
                     const Candidate* last) {
  std::vector<std::int32_t> world_ranks;
  for (const Candidate* c = first; c != last; ++c)
    world_ranks.push_back(parent.shared->group()->world_rank(c->rank));
  World& world = parent.shared->world();
  auto* shared = new CommShared(world, world.new_context(), Group::of(std::move(world_ranks)));
  for (const Candidate* c = first; c != last; ++c) {
    // The member's own hold, taken for it now: the first to finish must not end what others have
    // yet to take.
    shared->retain();
    request_of(slots, c->rank).shared = shared;
  }
}

void split_all(Comm& parent, const CollectiveSlots& slots) {
  std::vector<Candidate> candidates;
  for (std::int32_t rank = 0; rank < parent.size(); ++rank) {
    const SplitRequest& request = request_of(slots, rank);
    if (request.color != MPI_UNDEFINED)
      candidates.push_back({.color = request.color, .key = request.key, .rank = rank});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.color != b.color) return a.color < b.color;
    return a.key != b.key ? a.key < b.key : a.rank < b.rank;
  });
  for (std::size_t first = 0; first < candidates.size();) {
    std::size_t last = first;
    while (last < candidates.size() && candidates[last].color == candidates[first].color)
      ++last;
    make_shared_for(parent, slots, candidates.data() + first, candidates.data() + last);
    first = last;
  }
}

/// The member's own view of what member 0 has made, whose hold becomes the view's.
Comm* adopt(CommShared& shared, const RankState& self, const Comm& parent) {
  Comm* comm = make_comm(shared, shared.group()->rank_of(self.world_rank), parent);
  shared.release();
  return comm;
}

/// Meets, lets member 0 answer all requests, meets again.
template <class Answer>
void ask_member_zero(RankState& self, Comm& parent, SplitRequest& request, Answer&& answer) {
  CollectiveSlots& slots = parent.shared->slots();
  slots.deposit(parent, &request);
  slots.meet(self, parent);
  if (parent.rank == 0) answer(slots);
  slots.meet(self, parent);
}

/// A parent with one member asks nobody.
CommShared* make_alone(const RankState& self, Comm& parent) {
  World& world = parent.shared->world();
  auto* shared = new CommShared(world, world.new_context(), Group::of({self.world_rank}));
  shared->retain();
  return shared;
}

}  // namespace

Comm* comm_duplicate(RankState& self, Comm& parent) {
  if (parent.size() == 1) return adopt(*make_alone(self, parent), self, parent);
  SplitRequest request{.color = 0, .key = 0, .group = nullptr};
  ask_member_zero(self, parent, request, [&](const CollectiveSlots& slots) {
    World& world = parent.shared->world();
    auto* shared = new CommShared(world, world.new_context(), parent.shared->group());
    for (std::int32_t rank = 0; rank < parent.size(); ++rank) {
      shared->retain();
      request_of(slots, rank).shared = shared;
    }
  });
  return adopt(*request.shared, self, parent);
}

int comm_split(RankState& self, Comm& parent, int color, int key, Comm** result) {
  *result = nullptr;
  if (color < 0 && color != MPI_UNDEFINED) {
    return self.fail(MPI_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
  }
  SplitRequest request{.color = color, .key = key, .group = nullptr};
  if (parent.size() == 1) {
    if (color != MPI_UNDEFINED) request.shared = make_alone(self, parent);
  } else {
    ask_member_zero(self, parent, request,
                    [&](const CollectiveSlots& slots) { split_all(parent, slots); });
  }
  if (request.shared != nullptr) *result = adopt(*request.shared, self, parent);
  return MPI_SUCCESS;
}

int comm_create(RankState& self, Comm& parent, std::shared_ptr<const Group> group, Comm** result) {
  for (std::int32_t i = 0; i < group->size(); ++i) {
    if (parent.shared->group()->rank_of(group->world_rank(i)) == MPI_UNDEFINED) {
      return self.fail(MPI_ERR_GROUP, "rank %d of the group is not in the communicator", i);
    }
  }
  // Disjoint groups are colors: a group is named by its first member, ordered by position in the
  // group.
  const std::int32_t key = group->rank_of(self.world_rank);
  const int color = key == MPI_UNDEFINED ? MPI_UNDEFINED : group->world_rank(0);
  return comm_split(self, parent, color, key, result);
}

int comm_create_group(
    RankState& self, Comm& parent, std::shared_ptr<const Group> group, int tag, Comm** result) {
  *result = nullptr;
  const std::int32_t own_rank = group->rank_of(self.world_rank);
  if (own_rank == MPI_UNDEFINED) return MPI_SUCCESS;
  // The group's first member makes the shared part and sends its address to the others, on a tag of
  // the parent that no user may use: user tags are not negative, and the two wildcards are -1 and
  // -2.
  const int wire_tag = -3 - tag;
  Datatype& address = *datatype_from_handle(MPI_AINT);
  CommShared* shared = nullptr;
  if (own_rank == 0) {
    shared = new CommShared(parent.shared->world(), parent.shared->world().new_context(), group);
    for (std::int32_t i = 0; i < group->size(); ++i)
      shared->retain();
    for (std::int32_t i = 1; i < group->size(); ++i) {
      const int destination = parent.shared->group()->rank_of(group->world_rank(i));
      send(self, parent,
           {.buffer = &shared,
            .count = 1,
            .type = address,
            .destination = destination,
            .tag = wire_tag},
           SendMode::standard);
    }
  } else {
    Request request;
    const int source = parent.shared->group()->rank_of(group->world_rank(0));
    describe_receive(
        request, self, parent,
        {.buffer = &shared, .count = 1, .type = address, .source = source, .tag = wire_tag});
    request.is_active = true;
    start_receive(request);
    wait_for(request);
  }
  *result = adopt(*shared, self, parent);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
