#include "mpi/job/process_world.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mpi/collectives/operation_pool.hpp"
#include "mpi/collectives/process_barrier.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/comm/topology/topology.hpp"
#include "mpi/match/arrival.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/net/eager_windows.hpp"
#include "mpi/net/relay.hpp"
#include "mpi/net/remote_message.hpp"
#include "mpi/net/send_queue.hpp"
#include "mpi/rma/message.hpp"
#include "mpi/rma/packet_space.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::uint32_t world_context = 0;

void init_comm(Comm& comm, CommShared& shared, std::int32_t rank) {
  comm.shared = &shared;
  comm.rank = rank;
  comm.errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
  shared.retain();
}

/// One for all workers: nothing changes it after this. Ranks keep its address, also where they go
/// to another process: it is the same in all.
Request& make_finished_send(core::Worker& worker) {
  static Request request;
  static std::once_flag is_made;
  Request* const placed = RequestPool::place_of_lasting();
  Request& made = placed == nullptr ? request : *placed;
  std::call_once(is_made, [&] {
    if (placed != nullptr) new (placed) Request;
    made.kind = Request::Kind::send;
    made.life = Request::Life::endless;
    activate(made);
    made.completion.complete(worker);
  });
  return made;
}

/// The communicators that every rank has.
void end_comms_of(RankState& rank) {
  for (Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    // Before the keyvals that they point to.
    comm->attributes.reset();
    // A rank that was dropped has no MPI_COMM_WORLD.
    if (CommShared* shared = std::exchange(comm->shared, nullptr)) shared->release();
  }
}

std::unique_ptr<Safepoint> make_safepoint(World& world) {
  if (world.job_stop() == nullptr && !world.moves_ranks()) return nullptr;
  return std::make_unique<Safepoint>(world);
}

void set_packet_handlers(transport::Transport& transport, World& world) {
  set_message_handlers(transport, world);
  set_barrier_handlers(transport, world);
  set_rma_handlers(transport, world);
}

}  // namespace

WorkerState::WorkerState() = default;
WorkerState::~WorkerState() = default;

ProcessWorld::ProcessWorld(core::Scheduler& scheduler,
                           JobControl& job,
                           const RankLayout& layout,
                           const Connection& connection,
                           const TuningTable& tuning)
    : World(scheduler, job, layout, connection, Group::world(layout.rank_count())),
      remote_rank_(std::make_unique<RankState>()),
      remote_request_(std::make_unique<Request>()),
      safepoint_if_any_(make_safepoint(*this)),
      tuning_(tuning),
      calls_(*this),
      ports_(std::make_unique<PortService>(*this, calls_)) {
  // A process with few ranks may have fewer workers than the layout, and none of its ranks beyond.
  const Endpoint last{.process = own_process(), .worker = layout.worker_count() - 1};
  SORREL_CHECK(connection.first_worker + layout.worker_count() <= scheduler.worker_count() ||
               layout.first_rank({.process = own_process(), .worker = scheduler.worker_count()}) ==
                   layout.last_rank(last));
  SORREL_CHECK((transport() != nullptr) == (layout.process_count() > 1));
  remote_rank_->world = this;
  for (std::int32_t i = 0; i < size(); ++i)
    ranks_[static_cast<std::size_t>(i)] = remote_rank_.get();
  remote_sender_ = remote_request_.get();
  remote_sender_->owner = remote_rank_.get();
  for (std::uint32_t i = 0; i < layout.worker_count(); ++i) {
    states_.push_back(std::make_unique<WorkerState>());
    worker_states_.push_back(states_.back().get());
  }
  set_arrival_runners(scheduler);
  set_barrier_runners(scheduler);
  if (transport() != nullptr) set_packet_handlers(*transport(), *this);
  safepoint_ = safepoint_if_any_.get();
  if (connection.moves_ranks) {
    balancer_ = std::make_unique<RankBalancer>(*this, connection.shuffle_seed);
    safepoint_->set_process_participant(*balancer_);
  }
  world_comm_ = new CommShared(*this, world_context, group_);
  world_comm_->retain();
  job_comm_ = new CommShared(*this, job_context, Group::world(rank_capacity()), CommKind::inter);
  job_comm_->retain();
  if (may_spawn()) {
    spawned_ = std::make_unique<SpawnedRanks>(*this, last_own_rank() - first_own_rank(),
                                              universe_size() - size());
  }
}

ProcessWorld::~ProcessWorld() {
  if (passes_packets()) {
    for (const auto& state : states_) {
      for (const RankState* rank : state->ranks)
        delete rank;
    }
  }
  job_comm_->release();
  world_comm_->release();
}

void ProcessWorld::make_ranks(core::Worker& worker) {
  WorkerState& state = state_of(worker);
  state.world = this;
  state.worker = &worker;
  state.finished_send = &make_finished_send(worker);
  worker.set_user(&state);
  if (transport() != nullptr) {
    state.send_queue = std::make_unique<SendQueue>(*this, worker);
    state.eager_windows = std::make_unique<EagerWindows>(*state.send_queue);
    state.process_barriers = std::make_unique<ProcessBarriers>();
  }
  const Endpoint endpoint = endpoint_of(worker);
  const std::int32_t first = layout_.first_rank(endpoint);
  const std::int32_t last = layout_.last_rank(endpoint);
  const bool is_constant = balancer_ == nullptr && !moves_between();
  state.ranks.reserve(static_cast<std::size_t>(is_constant ? last - first : size()));
  for (std::int32_t i = first; i < last; ++i) {
    RankState* rank = make_rank(i, worker);
    init_comm(rank->world_comm, *world_comm_, i);
    SORREL_ASSERT(ranks_[static_cast<std::size_t>(i)] == remote_rank_.get(), "made twice");
    ranks_[static_cast<std::size_t>(i)] = rank;
    state.ranks.push_back(rank);
    make_self_comm(*rank);
  }
}

/// In no table, and without communicators.
RankState* ProcessWorld::make_rank(std::int32_t world_rank, core::Worker& worker) {
  auto* rank = new RankState;
  rank->world_rank = world_rank;
  rank->worker = &worker;
  rank->worker_state = &state_of(worker);
  rank->world = this;
  rank->fiber.user = rank;
  return rank;
}

void ProcessWorld::make_self_comm(RankState& rank) {
  auto* self = new CommShared(*this, new_context(), Group::of({rank.world_rank}));
  init_comm(rank.self_comm, *self, 0);
}

void ProcessWorld::end_ranks(core::Worker& worker) {
  WorkerState& state = state_of(worker);
  SORREL_ASSERT(state.worker == &worker && &worker == core::Worker::current());
  drain(state);
  // Else requests of ranks that have come are in the pool of this worker, and others are not.
  if (balancer_ == nullptr) SORREL_AUDIT_INVARIANTS(state.requests);
  for (RankState* rank : state.ranks) {
    SORREL_AUDIT_INVARIANTS(rank->posted);
    SORREL_AUDIT_INVARIANTS(rank->unexpected);
    free_all_unexpected(*rank);
    end_comms_of(*rank);
    if (!passes_packets()) delete rank;
  }
  if (spawned_ != nullptr) spawned_->end_worker(worker);
}

/// Under the lock of SpawnedRanks.
void ProcessWorld::enter_spawned(std::int32_t number, RankState& rank) {
  ranks_[static_cast<std::size_t>(number)] = &rank;
  // Release, pairs with rank_number_end().
  if (number >= rank_number_end()) rank_number_end_.store(number + 1, std::memory_order_release);
}

RankState& ProcessWorld::make_spawned(std::int32_t number, core::Worker& worker) {
  RankState& rank = *make_rank(number, worker);
  rank.spawned = std::make_unique<SpawnedRank>();
  enter_spawned(number, rank);
  return rank;
}

RankState& ProcessWorld::learn_spawned(std::int32_t number) {
  SORREL_ASSERT(!is_here(number));
  enter_spawned(number, *remote_rank_);
  return *remote_rank_;
}

void ProcessWorld::enter_world_comm(RankState& rank, CommShared& shared) {
  Errhandler* const errhandler = rank.world_comm.errhandler;
  init_comm(rank.world_comm, shared, shared.group()->rank_of(rank.world_rank));
  rank.world_comm.errhandler = errhandler;
}

void ProcessWorld::take_comms(RankState& rank) {
  SpawnedRank& spawned = *rank.spawned;
  if (spawned.parent != nullptr) release(*std::exchange(spawned.parent, nullptr));
  end_comms_of(rank);
}

void ProcessWorld::forget_spawned(const RankState& rank) {
  ranks_[static_cast<std::size_t>(rank.world_rank)] = remote_rank_.get();
}

RankState& ProcessWorld::make_arrival(std::int32_t world_rank, core::Worker& worker) {
  SORREL_ASSERT(!is_here(world_rank) && moves_between());
  RankState& rank = *make_rank(world_rank, worker);
  init_comm(rank.world_comm, *world_comm_, world_rank);
  make_self_comm(rank);
  return rank;
}

void ProcessWorld::drop_arrival(RankState& rank) {
  free_all_unexpected(rank);
  end_comms_of(rank);
  delete &rank;
}

std::span<CommShared* const> ProcessWorld::begin_move(const RankLayout& layout) {
  const auto is_moving = [&](std::int32_t world_rank) {
    return layout.process_of(world_rank) != layout_.process_of(world_rank);
  };
  moving_comms_.clear();
  for (CommShared* comm : comms()) {
    bool has_any = false;
    for (std::int32_t i = 0; i < comm->size() && !has_any; ++i)
      has_any = is_moving(comm->group()->world_rank(i));
    if (has_any) moving_comms_.push_back(comm);
  }
  std::ranges::sort(moving_comms_);
  for (CommShared* comm : moving_comms_) {
    comm->retain();
    if (comm->kind() == CommKind::intra) comm->slots().end_process_barrier();
  }
  layout_ = layout;
  first_own_rank_ = layout.first_rank_of_process(own_process_);
  last_own_rank_ = layout.first_rank_of_process(own_process_ + 1);
  return moving_comms_;
}

void ProcessWorld::remove(RankState& rank) {
  SORREL_ASSERT(!is_here(rank.world_rank) && moves_between());
  std::erase(rank.worker_state->ranks, &rank);
  ranks_[static_cast<std::size_t>(rank.world_rank)] = remote_rank_.get();
  end_comms_of(rank);
  delete &rank;
}

void ProcessWorld::end_move(std::span<RankState* const> arrivals) {
  for (RankState* rank : arrivals) {
    SORREL_ASSERT(is_here(rank->world_rank));
    ranks_[static_cast<std::size_t>(rank->world_rank)] = rank;
    rank->worker_state->ranks.push_back(rank);
    rank->is_away = &first_state_of(*rank) != rank->worker_state;
    // Its member was not in the table.
    rank->self_comm.shared->relocate();
  }
  for (CommShared* comm : moving_comms_) {
    comm->relocate();
    comm->release();
  }
  moving_comms_.clear();
  if (balancer_ != nullptr) balancer_->on_ranks_changed();
}

bool ProcessWorld::has_idle_operations() const {
  return std::ranges::all_of(states_, [](const auto& state) {
    return state->operations == nullptr || state->operations->is_idle();
  });
}

std::optional<core::FiberPool::Stack> operation_stack_of(const RankState& rank) {
  const auto& operations = rank.worker_state->operations;
  if (operations == nullptr) return std::nullopt;
  return operations->fibers().stack_of(rank.worker->running());
}

bool has_operation_in_progress(const RankState& rank) {
  const auto& operations = rank.worker_state->operations;
  return operations != nullptr && operations->fibers().has_task_of(rank.fiber);
}

void drain(const WorkerState& state) {
  // Packets for which other processes wait must leave before this worker ends.
  if (state.send_queue != nullptr) state.send_queue->drain();
}

}  // namespace sorrel::mpi
