#include "mpi/safepoint/safepoint.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <netdb.h>

#include "arch/call_below.hpp"
#include "arch/stack_pointer.hpp"
#include "core/burst.hpp"
#include "mpi/net/send_queue.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::mpi {

namespace {

/// Distance between the frame that goes on in another process and the frames that do not.
constexpr std::size_t frame_distance = 1024;

// What processes want, four bits (ProcessBarrier): one for each participant, and two for all.
constexpr std::size_t participant_count_max = 2;
constexpr std::uint32_t notice_bit = 4;
/// A rank has several threads that call.
constexpr std::uint32_t threads_bit = 8;

}  // namespace

/// What enter() hands down. On the rank's stack.
struct Safepoint::Frame {
  WaitingRank waiting;
  Safepoint& safepoint;
  SafepointParticipant& participant;
};

Safepoint::Safepoint(World& world)
    : world_(world),
      // Not by a rank: the loader would keep what it allocates for its error in the rank's heap.
      exception_state_(core::find_exception_state()),
      waiting_(world.job_stop() == nullptr ? 0 : static_cast<std::size_t>(world.size())) {
  if (world.job_stop() != nullptr) world.job_stop()->set_action(*this);
}

void Safepoint::add(SafepointParticipant& participant) {
  SORREL_CHECK(world_.job_stop() != nullptr && participants_.size() < participant_count_max);
  participants_.push_back(&participant);
}

void Safepoint::add(CollectiveSlots& slots) {
  const std::scoped_lock lock(slots_mutex_);
  slots_.push_back(&slots);
}

void Safepoint::remove(CollectiveSlots& slots) {
  const std::scoped_lock lock(slots_mutex_);
  std::erase(slots_, &slots);
}

/// All ranks have called MPI_Init.
std::int32_t Safepoint::threaded_rank() {
  if (std::exchange(has_looked_for_threads_, true)) return threaded_rank_;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    if (threaded_rank_ < 0 && world_.rank(i).calling_level >= MPI_THREAD_SERIALIZED)
      threaded_rank_ = i;
  }
  return threaded_rank_;
}

std::uint32_t Safepoint::wishes() {
  // A collective may have several barriers.
  if (is_begun_) return 0;
  std::uint32_t wishes = 0;
  for (std::size_t i = 0; i < participants_.size(); ++i) {
    const SafepointParticipant::Wish wish = participants_[i]->wants();
    if (wish == SafepointParticipant::Wish::safepoint) wishes |= 1U << i;
    if (wish == SafepointParticipant::Wish::notice) wishes |= notice_bit;
  }
  return wishes;
}

std::uint32_t Safepoint::wanted_of(std::uint32_t wishes) {
  if (is_begun_ || participants_.empty()) return 0;
  // Another process may want it.
  const bool may_be_wanted = wishes != 0 || world_.layout().process_count() > 1;
  return may_be_wanted && threaded_rank() >= 0 ? wishes | threads_bit : wishes;
}

std::uint32_t Safepoint::wanted() {
  return wanted_of(wishes());
}

/// Whether the ranks are to enter().
bool Safepoint::begin(std::uint32_t wanted) {
  if (wanted == 0) return false;
  SORREL_ASSERT(!is_begun_, "0x%x is wanted while the ranks come to a safepoint", wanted);
  const bool has_threads = (wanted & threads_bit) != 0;
  SafepointParticipant* chosen = nullptr;
  for (std::size_t i = 0; i < participants_.size(); ++i) {
    SafepointParticipant& participant = *participants_[i];
    if ((wanted & notice_bit) != 0) participant.on_notice();
    if ((wanted >> i & 1) == 0) continue;
    if (has_threads) participant.give_up(threaded_rank());
    // The other one wants it again in a later collective.
    if (!has_threads && chosen == nullptr) chosen = &participant;
  }
  if (chosen == nullptr) return false;
  begun_for_ = chosen;
  is_begun_ = true;
  core::begin_slow_ends();
  chosen->begin();
  return true;
}

SafepointDecision Safepoint::decide(CollectiveSlots& slots, std::uint32_t wanted) {
  if (begin(wanted)) return SafepointDecision::at_end_of_call;
  const bool is_in_barrier = process_ != nullptr && process_->begin_in(slots);
  return is_in_barrier ? SafepointDecision::in_barrier : SafepointDecision::none;
}

/// Whether the caller handles a C++ exception, or one unwinds its stack.
bool Safepoint::handles_exception() const {
  const core::ExceptionState* state = exception_state_ == nullptr ? nullptr : exception_state_();
  return state != nullptr && (state->caught != nullptr || state->uncaught_count != 0);
}

/// The frame of this function is restored, too.
void Safepoint::enter(RankState& rank) {
  (void)enter(rank, *begun_for_);
}

/// The frame of this function is restored: after the switch it uses nothing of the process in which
/// it was called.
[[gnu::noinline]] int Safepoint::enter(RankState& rank, SafepointParticipant& participant) {
  const os::StackSlab& stacks = *world_.rank_stacks();
  const auto bottom =
      reinterpret_cast<std::uintptr_t>(stacks.bottom(static_cast<std::size_t>(rank.place)));
  const std::uintptr_t room = arch::stack_pointer() - bottom;
  if (participant.call() != nullptr) rank.fiber.call = participant.call();
  Frame frame{.waiting = {.rank = &rank, .handles_exception = handles_exception()},
              .safepoint = *this,
              .participant = participant};
  if (rank.fiber.is_guest || !is_in_main_fiber(rank) || rank.fiber.pin_count != 0 ||
      room > stacks.stack_bytes()) {
    frame.waiting.reason =
        "the call is made by a thread of its own, in a callback, or on another stack";
    return join(frame.waiting, participant);
  }
  const int saved_errno = errno;
  const int saved_host_errno = h_errno;
  // A signal may come at any moment.
  arch::sorrel_call_below(&frame.waiting.resume, frame_distance, wait_below, &frame);
  errno = saved_errno;
  h_errno = saved_host_errno;
  return *static_cast<volatile int*>(&frame.waiting.outcome);
}

void Safepoint::wait_below(void* argument) {
  auto& frame = *static_cast<Frame*>(argument);
  frame.waiting.outcome = frame.safepoint.join(frame.waiting, frame.participant);
  arch::Context ended = nullptr;
  arch::sorrel_switch_context(&ended, frame.waiting.resume);
  std::abort();
}

int Safepoint::join(WaitingRank& waiting, SafepointParticipant& participant) {
  RankState& rank = *waiting.rank;
  core::Worker& worker = *rank.worker;
  waiting.fiber = &worker.running();
  const RankWait wait(rank, WaitRecord::Kind::collective, &rank.world_comm);
  waiting_[static_cast<std::size_t>(rank.world_rank)] = &waiting;
  const std::int32_t rank_count = world_.last_own_rank() - world_.first_own_rank();
  if (arrived_count_.fetch_add(1, std::memory_order_acq_rel) + 1 != rank_count) {
    worker.suspend();
    return outcome_;
  }
  last_ = waiting.fiber;
  running_ = &participant;
  is_over_ = false;
  participant.prepare(worker);
  if (world_.job_stop()->must_request()) {
    participant.prepare_stop();
    stop_job(worker);
  } else {
    worker.suspend();
  }
  return outcome_;
}

/// A worker that is late, or a message in flight, makes a stop fail.
void Safepoint::stop_job(core::Worker& worker) {
  while (!is_over_) {
    if (world_.job_stop()->request(worker)) {
      worker.suspend();
    } else {
      worker.yield();
    }
  }
}

/// Whether no packet waits for room in a mailbox.
bool Safepoint::is_quiet() {
  for (const WorkerState* state : world_.worker_states()) {
    if (state->send_queue != nullptr && !state->send_queue->is_empty()) return false;
  }
  return true;
}

void Safepoint::on_job_stopped(core::JobStop& stop) {
  release(running_->run(stop));
  running_->resume();
}

void Safepoint::on_job_resumed(core::Worker& requester, bool was_stopped) {
  if (!was_stopped) requester.make_ready(*last_);
}

os::MemoryRange Safepoint::stack_of(const RankState& rank) const {
  const os::StackSlab& stacks = *world_.rank_stacks();
  const auto bottom =
      reinterpret_cast<std::uintptr_t>(stacks.bottom(static_cast<std::size_t>(rank.place)));
  return {.begin = reinterpret_cast<std::uintptr_t>(waiting(rank).resume),
          .end = bottom + stacks.usable_bytes(static_cast<std::size_t>(rank.world_rank))};
}

void Safepoint::forget(const RankState& rank) {
  waiting_[static_cast<std::size_t>(rank.world_rank)] = nullptr;
}

/// Makes the ranks ready that came here and were not forgotten.
void Safepoint::release(int outcome) {
  outcome_ = outcome;
  is_over_ = true;
  if (std::exchange(is_begun_, false)) core::end_slow_ends();
  // Relaxed: published by the end of the stop.
  arrived_count_.store(0, std::memory_order_relaxed);
  for (WaitingRank*& waiting : waiting_) {
    if (waiting == nullptr) continue;
    waiting->rank->worker->make_ready(*waiting->fiber);
    waiting = nullptr;
  }
}

}  // namespace sorrel::mpi
