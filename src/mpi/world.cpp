#include "mpi/world.hpp"

#include "mpi/collectives/slots.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/request.hpp"
#include "mpi/p2p/send.hpp"
#include "mpi/p2p/unexpected.hpp"
#include "mpi/rank_state.hpp"
#include "mpi/topology/cart.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::uint32_t world_context = 0;

void init_comm(Comm& comm, CommShared& shared, std::int32_t rank) {
  comm.shared = &shared;
  comm.rank = rank;
  comm.errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
  shared.retain();
}

Request& make_finished_send(WorkerState& state) {
  Request& request = state.requests.take();
  request.kind = Request::Kind::send;
  request.life = Request::Life::endless;
  request.is_active = true;
  request.completion.complete(*state.worker);
  return request;
}

}  // namespace

World::World(core::Scheduler& scheduler, JobControl& job, std::int32_t size)
    : scheduler_(scheduler),
      job_(job),
      group_(Group::everybody(size)),
      ranks_(static_cast<std::size_t>(size)) {
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i)
    worker_states_.push_back(std::make_unique<WorkerState>());
  set_send_runners(scheduler);
  world_comm_ = new CommShared(*this, world_context, group_);
  world_comm_->retain();
}

World::~World() {
  world_comm_->release();
}

std::int32_t World::first_rank(std::uint32_t index) const {
  return static_cast<std::int32_t>(std::int64_t{size()} * index / scheduler_.worker_count());
}

std::uint32_t World::worker_of(std::int32_t world_rank) const {
  // The inverse of first_rank(): the last worker whose first rank is not above.
  const std::int64_t count = scheduler_.worker_count();
  return static_cast<std::uint32_t>(((std::int64_t{world_rank} + 1) * count - 1) / size());
}

void World::make_ranks(core::Worker& worker) {
  WorkerState& state = *worker_states_[worker.index()];
  state.world = this;
  state.worker = &worker;
  state.finished_send = &make_finished_send(state);
  worker.set_user(&state);
  const std::int32_t last = first_rank(worker.index() + 1);
  for (std::int32_t i = first_rank(worker.index()); i < last; ++i) {
    auto* rank = new RankState;
    rank->world_rank = i;
    rank->worker = &worker;
    rank->worker_state = &state;
    rank->world = this;
    rank->fiber.user = rank;
    init_comm(rank->world_comm, *world_comm_, i);
    ranks_[static_cast<std::size_t>(i)] = rank;
    auto* self = new CommShared(*this, new_context(), Group::of({i}));
    init_comm(rank->self_comm, *self, 0);
  }
}

void World::end_ranks(core::Worker& worker) {
  const std::int32_t last = first_rank(worker.index() + 1);
  for (std::int32_t i = first_rank(worker.index()); i < last; ++i) {
    RankState* rank = ranks_[static_cast<std::size_t>(i)];
    free_all_unexpected(*rank);
    // Before the keys that they point to.
    rank->world_comm.attributes.reset();
    rank->self_comm.attributes.reset();
    rank->world_comm.shared->release();
    rank->self_comm.shared->release();
    delete rank;
  }
}

}  // namespace sorrel::mpi
