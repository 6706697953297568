#include "mpi/job/rank_balancer.hpp"

#include <algorithm>
#include <utility>

#include "arch/cpu.hpp"
#include "core/later_balance.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_events.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/net/relay.hpp"
#include "mpi/safepoint/safepoint.hpp"
#include "trace/tracer.hpp"

namespace sorrel::mpi {

namespace {

/// Shorter windows measure the order of arrival rather than the work.
constexpr std::int64_t window_ns_min = 10'000'000;
/// A window's length for each rank: reading the counter of a rank takes some 100 ns.
constexpr std::int64_t window_ns_per_rank = 20'000;
/// A stop of all workers, and a move with the data that another core's caches must load again.
constexpr std::int64_t stop_ns = 50'000;
constexpr std::int64_t move_ns = 10'000;
/// A number of threads that has lasted so long is expected to last. The governor decides every 20
/// to 120 ms, and may waver.
constexpr std::int64_t settled_ns = 250'000'000;

std::int32_t own_rank_count(const World& world) {
  return world.last_own_rank() - world.first_own_rank();
}

std::int64_t window_ns(const World& world) {
  return std::max(window_ns_min, window_ns_per_rank * own_rank_count(world));
}

balance::Costs costs_of(const core::CycleClock& clock) {
  return {.stop = static_cast<double>(clock.cycles_in(stop_ns)),
          .move = static_cast<double>(clock.cycles_in(move_ns))};
}

}  // namespace

RankBalancer::RankBalancer(ProcessWorld& world, std::optional<std::uint64_t> shuffle_seed)
    : world_(world),
      window_cycles_(clock_.cycles_in(window_ns(world))),
      policy_(static_cast<std::size_t>(own_rank_count(world)),
              world.layout().worker_count(),
              costs_of(clock_)),
      counted_(static_cast<std::size_t>(own_rank_count(world))),
      loads_(static_cast<std::size_t>(own_rank_count(world))),
      width_(world.layout().worker_count()),
      settled_cycles_(clock_.cycles_in(settled_ns)) {
  if (shuffle_seed) random_.emplace(*shuffle_seed);
}

RankState& RankBalancer::rank_at(std::size_t index) const {
  return world_.rank(world_.first_own_rank() + static_cast<std::int32_t>(index));
}

void RankBalancer::on_ranks_changed() {
  const auto count = static_cast<std::size_t>(own_rank_count(world_));
  policy_.set_rank_count(count);
  counted_.assign(count, 0);
  loads_.assign(count, {});
  // The counters of the next window are its first.
  window_began_ = 0;
}

BalanceReport RankBalancer::report() const {
  BalanceReport report = report_;
  report.policy = policy_.counts();
  return report;
}

/// Mostly, the window is not over.
bool RankBalancer::is_due() const {
  const core::BalanceStage stage = core::balance_stage();
  const bool is_measured =
      stage == core::BalanceStage::as_configured || stage == core::BalanceStage::measuring;
  return is_measured && (random_ || arch::cycles() - window_began_ >= window_cycles_);
}

bool RankBalancer::begin_in(CollectiveSlots& slots) {
  // Acquire, pairs with on_resumed(): the last requester may have no rank left, and be slower than
  // the ranks.
  if (!is_due() || is_pending_.load(std::memory_order_acquire) || !plan() || !is_alone())
    return false;
  made_.clear();
  is_released_ = was_stopped_ = false;
  awaited_ = &slots;
  began_ = arch::cycles();
  // Relaxed: a later begin_in() comes after this collective, or after on_resumed().
  is_pending_.store(true, std::memory_order_relaxed);
  if (world_.scheduler().request_stop(*core::Worker::current(), *this)) return true;
  is_pending_.store(false, std::memory_order_relaxed);
  ++report_.late_stops;
  policy_.record_step({});
  return false;
}

/// At the end of a window: whether there are moves to make.
bool RankBalancer::plan() {
  if (random_) {
    shuffle();
    return !planned_.empty();
  }
  const std::uint64_t now = arch::cycles();
  const bool is_first = window_began_ == 0;
  window_began_ = now;
  const bool is_settled = follow_width(now);
  measure();
  if (is_first || !is_settled) return false;
  planned_ = policy_.observe(loads_);
  return !planned_.empty();
}

void RankBalancer::shuffle() {
  planned_.clear();
  for (std::uint32_t i = 0; i < loads_.size(); ++i) {
    const std::uint32_t from = place_of(rank_at(i));
    const auto to = static_cast<std::uint32_t>(random_->below(policy_.place_count()));
    if (random_->below(4) == 0 && to != from) planned_.push_back({i, from, to});
  }
}

/// Whether the number of threads has lasted for a while: then the plan is for so many.
bool RankBalancer::follow_width(std::uint64_t now) {
  const std::uint32_t width = world_.scheduler().width();
  if (width != width_) {
    width_ = width;
    width_since_ = now;
  }
  if (width == policy_.place_count()) return true;
  if (now - width_since_ < settled_cycles_) return false;
  policy_.set_place_count(width);
  return true;
}

/// The thread that runs its worker. There is one world, so workers have equal numbers in both.
std::uint32_t RankBalancer::place_of(const RankState& rank) const {
  return core::WorkerThread::thread_of(rank.worker->index(), world_.layout().worker_count(),
                                       policy_.place_count());
}

/// The worker with the fewest ranks among the workers of a thread.
core::Worker& RankBalancer::receiver_at(std::uint32_t place) const {
  const std::uint32_t worker_count = world_.layout().worker_count();
  core::Worker* receiver = nullptr;
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    if (core::WorkerThread::thread_of(i, worker_count, policy_.place_count()) != place) continue;
    core::Worker& worker = world_.worker(i);
    if (receiver == nullptr ||
        world_.state_of(worker).ranks.size() < world_.state_of(*receiver).ranks.size())
      receiver = &worker;
  }
  return *receiver;
}

/// The cycles of each rank since the last time. Other workers may be about to add the end of a
/// burst: it counts in the next window.
void RankBalancer::measure() {
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const RankState& rank = rank_at(i);
    const std::uint64_t busy = core::Worker::busy_cycles_of(rank.fiber);
    loads_[i].load = static_cast<double>(busy - std::exchange(counted_[i], busy));
    loads_[i].place = place_of(rank);
  }
}

/// Whether no spawned rank runs.
bool RankBalancer::is_alone() const {
  return world_.spawned() == nullptr || world_.spawned()->live_count() == 0;
}

/// A communicator with as many members as the job began with may have other ones.
bool RankBalancer::waits_in_awaited(const RankState& rank) const {
  return rank.fiber.state == core::FiberState::waiting &&
         rank.wait.kind == WaitRecord::Kind::collective &&
         &rank.wait.comm->shared->slots() == awaited_;
}

/// While all workers are stopped: whether every rank waits in the collective, and nothing else of
/// this library is in progress.
bool RankBalancer::may_step() const {
  if (!world_.scheduler().is_quiet_inside() || !awaited_->do_all_wait()) return false;
  for (std::size_t i = 0; i < loads_.size() && world_.may_spawn(); ++i) {
    if (!waits_in_awaited(rank_at(i))) return false;
  }
  // The fibers of nonblocking collectives stay on their worker.
  if (!world_.has_idle_operations()) return false;
  return std::ranges::all_of(world_.safepoint()->slots(),
                             [](const CollectiveSlots* slots) { return slots->may_regroup(); });
}

void RankBalancer::on_stopped() {
  was_stopped_ = true;
  if (!may_step()) {
    ++report_.busy_stops;
    return;
  }
  move_ranks();
  if (made_.empty()) return;
  for (CollectiveSlots* slots : world_.safepoint()->slots())
    slots->regroup();
  awaited_->release_at_safepoint();
  is_released_ = true;
}

bool RankBalancer::may_move(const RankState& rank) const {
  const bool has_files =
      rank.services_if_used != nullptr && rank.services_if_used->files != nullptr;
  // Other processes know where members of windows are, and where data that they push is awaited.
  const bool is_known =
      world_.transport() != nullptr && (rank.window_count != 0 || rank.arriving_count != 0);
  // A message that is set aside is in no table: it would be freed to another pool.
  return !has_files && !is_known && rank.set_aside_count == 0 && world_.job().may_move(rank);
}

void RankBalancer::move_ranks() {
  for (const balance::Move& planned : planned_) {
    RankState& rank = rank_at(planned.rank);
    if (!may_move(rank)) {
      ++report_.refused_moves;
      loads_[planned.rank].is_fixed = true;
      continue;
    }
    move(rank, receiver_at(planned.to));
    made_.push_back(planned);
  }
}

/// A fiber, its unexpected messages, and the worker of its rank. Requests and handles stay where
/// they are: the worker of a request is that of its rank.
void RankBalancer::move(RankState& rank, core::Worker& to) {
  core::Worker& from = *rank.worker;
  SORREL_ASSERT(&from != &to && rank.probers.empty());
  rank.unexpected.for_each([&](const MatchEntry& entry) {
    const auto& message = static_cast<const Message&>(entry);
    pass_copy(from.pool(), to.pool(), message);
  });
  // The stop orders it with the records of the worker itself.
  if (from.tracer() != nullptr)
    from.tracer()->add(trace::Record::now(trace::Kind::move, trace::name_of(&rank), to.index()));
  WorkerState& old_state = *rank.worker_state;
  rank.worker = &to;
  rank.worker_state = &world_.state_of(to);
  rank.is_away = world_.transport() != nullptr && &first_state_of(rank) != rank.worker_state;
  std::erase(old_state.ranks, &rank);
  rank.worker_state->ranks.push_back(&rank);
  if (RankTool* tool = tool_of(rank); tool != nullptr) tool->record_move(from, to);
  to.adopt(rank.fiber);
  world_.job().on_moved(rank, from);
}

void RankBalancer::on_resumed(core::Worker& /*requester*/) {
  CollectiveSlots* const unreleased = is_released_ ? nullptr : awaited_;
  policy_.record_step(made_);
  report_.late_stops += was_stopped_ ? 0 : 1;
  report_.waited_seconds += static_cast<double>(arch::cycles() - began_) /
                            static_cast<double>(clock_.cycles_in(1'000'000'000));
  // Release, pairs with begin_in().
  is_pending_.store(false, std::memory_order_release);
  if (unreleased != nullptr) unreleased->release_after_safepoint();
}

}  // namespace sorrel::mpi
