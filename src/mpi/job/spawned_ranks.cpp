#include "mpi/job/spawned_ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "mpi/job/process_world.hpp"
#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

SpawnedRanks::SpawnedRanks(ProcessWorld& world, std::int32_t first_place, std::int32_t place_count)
    : world_(world),
      first_place_(first_place),
      // A process with few ranks may have fewer workers than the layout.
      works_(std::min(world.scheduler().worker_count(), world.layout().worker_count())),
      numbers_(static_cast<std::size_t>(place_count)) {
  for (std::int32_t i = place_count; i-- > 0;) {
    free_places_.push_back(first_place + i);
    numbers_[static_cast<std::size_t>(i)].store(-1, std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < works_.size(); ++i) {
    const Endpoint endpoint{.process = world.own_process(), .worker = i};
    works_[i].rank_count = world.layout().last_rank(endpoint) - world.layout().first_rank(endpoint);
  }
}

/// Communicators that the program has not freed may still refer to those that are left.
SpawnedRanks::~SpawnedRanks() {
  for (RankState* rank : states_)
    delete rank;
}

std::int32_t SpawnedRanks::free_count() {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::int32_t>(free_places_.size());
}

std::size_t SpawnedRanks::live_count() {
  const std::scoped_lock lock(mutex_);
  return live_.size();
}

bool SpawnedRanks::are_any_leaving() {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(live_, [](const RankState* rank) {
    // The rank may lie on another worker: then this is a hint.
    return __atomic_load_n(&rank->world_phase, __ATOMIC_RELAXED) == Phase::finalized;
  });
}

std::size_t SpawnedRanks::state_count() {
  const std::scoped_lock lock(mutex_);
  return states_.size();
}

SpawnedRanks::Work& SpawnedRanks::work_of(const core::Worker& worker) {
  return works_[world_.endpoint_of(worker).worker];
}

/// Under the lock.
std::uint32_t SpawnedRanks::emptiest_worker() const {
  const auto found = std::ranges::min_element(works_, {}, &Work::rank_count);
  return static_cast<std::uint32_t>(found - works_.begin());
}

std::vector<RankState*> SpawnedRanks::make(std::int32_t count) {
  std::vector<RankState*> ranks = make_states(count);
  // Communicators take the lock.
  for (RankState* rank : ranks)
    world_.make_self_comm(*rank);
  return ranks;
}

std::vector<RankState*> SpawnedRanks::make_states(std::int32_t count) {
  const std::scoped_lock lock(mutex_);
  std::vector<RankState*> ranks;
  if (std::cmp_less(free_places_.size(), count) || !are_numbers_left(count)) return ranks;
  // Neighbours together, as in blocks.
  std::vector<std::uint32_t> workers;
  for (std::int32_t i = 0; i < count; ++i) {
    workers.push_back(emptiest_worker());
    ++works_[workers.back()].rank_count;
  }
  std::ranges::sort(workers);
  for (const std::uint32_t worker : workers) {
    RankState& rank = world_.make_spawned(next_number(worker), world_.worker(worker));
    rank.place = free_places_.back();
    free_places_.pop_back();
    numbers_[static_cast<std::size_t>(rank.place - first_place_)].store(rank.world_rank,
                                                                        std::memory_order_relaxed);
    states_.push_back(&rank);
    ranks.push_back(&rank);
  }
  return ranks;
}

bool SpawnedRanks::are_numbers_left(std::int32_t count) const {
  const RankLayout& layout = world_.layout();
  if (layout.process_count() == 1)
    return count <= world_.rank_capacity() - world_.rank_number_end();
  const auto made_max = spawned_count_max / static_cast<std::int32_t>(layout.endpoint_count());
  return std::ranges::all_of(works_,
                             [&](const Work& work) { return count <= made_max - work.made_count; });
}

/// Under the lock.
std::int32_t SpawnedRanks::next_number(std::uint32_t worker) {
  const RankLayout& layout = world_.layout();
  if (layout.process_count() == 1) return world_.rank_number_end();
  return layout.spawned_number({.process = world_.own_process(), .worker = worker},
                               works_[worker].made_count++);
}

void SpawnedRanks::start(std::span<RankState* const> ranks) {
  for (RankState* rank : ranks) {
    {
      const std::scoped_lock lock(mutex_);
      live_.push_back(rank);
      work_of(*rank->worker).starting.push_back(rank);
    }
    rank->worker->request_attention();
  }
}

void SpawnedRanks::end(RankState& rank) {
  {
    const std::scoped_lock lock(mutex_);
    work_of(*rank.worker).ending.push_back(&rank);
  }
  rank.worker->request_attention();
}

void SpawnedRanks::release(RankState& rank) {
  {
    const std::scoped_lock lock(mutex_);
    work_of(*rank.worker).unused.push_back(&rank);
  }
  rank.worker->request_attention();
}

void SpawnedRanks::progress(core::Worker& worker, SpawnedRankHooks& hooks) {
  Work& work = work_of(worker);
  std::vector<RankState*> starting;
  std::vector<RankState*> ending;
  {
    const std::scoped_lock lock(mutex_);
    starting.swap(work.starting);
    ending.swap(work.ending);
  }
  for (RankState* rank : starting)
    begin(*rank, hooks);
  std::erase_if(ending, [&](RankState* rank) { return try_end(*rank, hooks); });
  std::vector<RankState*> deleted;
  bool is_work_left = false;
  {
    const std::scoped_lock lock(mutex_);
    work.ending.insert(work.ending.end(), ending.begin(), ending.end());
    if (!worker.seems_to_have_mail()) deleted.swap(work.deleted_next);
    std::vector<RankState*>& next = work.deleted_next;
    next.insert(next.end(), work.unused.begin(), work.unused.end());
    work.unused.clear();
    is_work_left = !work.ending.empty() || !next.empty();
  }
  for (RankState* rank : deleted)
    destroy(*rank);
  if (is_work_left) worker.request_attention();
}

void SpawnedRanks::begin(RankState& rank, SpawnedRankHooks& hooks) {
  SpawnedRank& spawned = *rank.spawned;
  // Its view of each takes the reference that was held for it.
  Comm* local = make_comm(*spawned.parent_local, rank.world_comm.rank, rank.world_comm);
  spawned.parent_local->release();
  spawned.parent =
      make_inter_comm(*spawned.parent_shared, {.local = local, .is_first = false}, rank.world_comm);
  spawned.parent_shared->release();
  // MPI 5.0, 7.8.
  spawned.parent->name = std::make_unique<std::string>("MPI_COMM_PARENT");
  hooks.begin_spawned(rank);
}

/// Whether the rank has ended: its worker may still wait on its stack.
bool SpawnedRanks::try_end(RankState& rank, SpawnedRankHooks& hooks) {
  if (rank.fiber.state != core::FiberState::ended || &rank.worker->running() == &rank.fiber)
    return false;
  leave_place(rank, hooks.end_spawned(rank));
  return true;
}

void SpawnedRanks::leave_place(RankState& rank, bool is_free) {
  {
    const std::scoped_lock lock(mutex_);
    std::erase(live_, &rank);
    --work_of(*rank.worker).rank_count;
    if (is_free) {
      // The lowest one is given first.
      const auto at = std::ranges::lower_bound(free_places_, rank.place, std::ranges::greater());
      free_places_.insert(at, rank.place);
    }
  }
  world_.take_comms(rank);
  release_member(rank);
}

void SpawnedRanks::drop(std::span<RankState* const> ranks) {
  for (RankState* rank : ranks)
    leave_place(*rank, true);
}

void SpawnedRanks::destroy(RankState& rank) {
  free_all_unexpected(rank);
  {
    const std::scoped_lock lock(mutex_);
    std::erase(states_, &rank);
    world_.forget_spawned(rank);
    if (rank.worker->tracer() != nullptr) {
      kept_for_trace_.emplace_back(&rank);
      return;
    }
  }
  delete &rank;
}

void SpawnedRanks::end_worker(core::Worker& worker) {
  std::vector<RankState*> ranks;
  {
    const std::scoped_lock lock(mutex_);
    for (RankState* rank : states_) {
      if (rank->worker == &worker) ranks.push_back(rank);
    }
  }
  for (RankState* rank : ranks) {
    free_all_unexpected(*rank);
    // It has ended, and its worker has not noticed.
    if (rank->world_comm.shared != nullptr) world_.take_comms(*rank);
  }
}

/// The lock keeps the state: it is deleted after it has left the table under the lock.
RankState& SpawnedRanks::retain(std::int32_t number) {
  const std::scoped_lock lock(mutex_);
  if (number >= world_.size() && !world_.is_here(number)) return world_.learn_spawned(number);
  RankState& rank = world_.rank(number);
  if (rank.spawned == nullptr) return rank;
  std::atomic<std::int32_t>& holder_count = rank.spawned->holder_count;
  std::int32_t held = holder_count.load(std::memory_order_relaxed);
  while (held != 0) {
    if (holder_count.compare_exchange_weak(held, held + 1, std::memory_order_relaxed)) return rank;
  }
  // The last holder has released it.
  return world_.ended_rank();
}

RankState& retain_member(World& world, std::int32_t number) {
  SpawnedRanks* const spawned =
      world.may_spawn() ? static_cast<ProcessWorld&>(world).spawned() : nullptr;
  return spawned == nullptr ? world.rank(number) : spawned->retain(number);
}

void release_member(RankState& rank) {
  if (rank.spawned == nullptr) return;
  const std::int32_t held = rank.spawned->holder_count.fetch_sub(1, std::memory_order_acq_rel);
  SORREL_ASSERT(held > 0, "released more often than retained");
  if (held == 1) static_cast<ProcessWorld&>(*rank.world).spawned()->release(rank);
}

void learn_rank(World& world, std::int32_t number) {
  if (number < world.size() || world.is_here(number)) return;
  RankState& stand_in = retain_member(world, number);
  SORREL_ASSERT(stand_in.worker == nullptr);
  static_cast<void>(stand_in);
}

}  // namespace sorrel::mpi
