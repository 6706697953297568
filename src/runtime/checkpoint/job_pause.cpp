#include "runtime/checkpoint/job_pause.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <netdb.h>

#include "arch/stack_pointer.hpp"

namespace sorrel::runtime {

namespace {

/// Distance between the frame that goes on in another process and the frames that do not.
constexpr std::uintptr_t frame_distance = 1024;

}  // namespace

/// The Itanium C++ ABI's __cxa_eh_globals.
struct JobPause::ExceptionState {
  void* caught;
  unsigned int uncaught_count;
};

/// What enter() hands down. On the rank's stack.
struct JobPause::Frame {
  PausedRank paused;
  JobPause& pause;
  PausePurpose& purpose;
};

JobPause::JobPause(mpi::ProcessWorld& world, const os::StackSlab& stacks, std::int32_t first_stack)
    : world_(world),
      job_stop_(*world.job_stop()),
      stacks_(stacks),
      first_stack_(first_stack),
      // Not by a rank: the loader would keep what it allocates for its error in the rank's heap.
      exception_state_(
          reinterpret_cast<GetExceptionState>(::dlsym(RTLD_DEFAULT, "__cxa_get_globals"))),
      paused_(static_cast<std::size_t>(world.size())) {}

/// Whether the caller handles a C++ exception, or one unwinds its stack.
bool JobPause::handles_exception() const {
  const ExceptionState* state = exception_state_ == nullptr ? nullptr : exception_state_();
  return state != nullptr && (state->caught != nullptr || state->uncaught_count != 0);
}

/// The frame of this function is restored: after the switch it uses nothing of the process in which
/// it was called.
[[gnu::noinline]] int JobPause::enter(mpi::RankState& rank, PausePurpose& purpose) {
  auto* bottom = static_cast<std::byte*>(stacks_.bottom(stack_index(rank)));
  const std::uintptr_t room = arch::stack_pointer() - reinterpret_cast<std::uintptr_t>(bottom);
  Frame frame{.paused = {.rank = &rank, .handles_exception = handles_exception()},
              .pause = *this,
              .purpose = purpose};
  if (rank.fiber.is_guest || !mpi::is_in_main_fiber(rank) || rank.fiber.pin_count != 0 ||
      room > stacks_.stack_bytes()) {
    frame.paused.reason =
        "the call is made by a thread of its own, in a callback, or on another stack";
    return join(frame.paused, purpose);
  }
  const int saved_errno = errno;
  const int saved_host_errno = h_errno;
  const arch::Context below =
      arch::make_context(bottom, (room - frame_distance) / 16 * 16, wait_below, &frame);
  arch::sorrel_switch_context(&frame.paused.resume, below);
  errno = saved_errno;
  h_errno = saved_host_errno;
  return *static_cast<volatile int*>(&frame.paused.outcome);
}

void JobPause::wait_below(void* argument) {
  auto& frame = *static_cast<Frame*>(argument);
  frame.paused.outcome = frame.pause.join(frame.paused, frame.purpose);
  arch::Context ended = nullptr;
  arch::sorrel_switch_context(&ended, frame.paused.resume);
  std::abort();
}

int JobPause::join(PausedRank& paused, PausePurpose& purpose) {
  mpi::RankState& rank = *paused.rank;
  core::Worker& worker = *rank.worker;
  paused.fiber = &worker.running();
  const mpi::RankWait wait(rank, mpi::WaitRecord::Kind::collective, &rank.world_comm);
  paused_[static_cast<std::size_t>(rank.world_rank)] = &paused;
  const std::int32_t rank_count = world_.last_own_rank() - world_.first_own_rank();
  if (arrived_count_.fetch_add(1, std::memory_order_acq_rel) + 1 != rank_count) {
    worker.suspend();
    return outcome_;
  }
  last_ = paused.fiber;
  is_over_ = false;
  purpose.on_all_here(worker);
  return outcome_;
}

/// A worker that is late, or a message in flight, makes a stop fail.
void JobPause::stop_job(core::Worker& worker, std::uint32_t action) {
  while (!is_over_) {
    if (job_stop_.request(worker, action)) {
      worker.suspend();
    } else {
      worker.yield();
    }
  }
}

bool PausePurpose::is_quiet() {
  return pause_.world_.have_all_packets_left();
}

void PausePurpose::on_job_resumed(core::Worker& requester, bool was_stopped) {
  if (!was_stopped) requester.make_ready(*pause_.last_);
}

os::MemoryRange JobPause::stack_of(const mpi::RankState& rank) const {
  const auto bottom = reinterpret_cast<std::uintptr_t>(stacks_.bottom(stack_index(rank)));
  return {.begin = reinterpret_cast<std::uintptr_t>(paused(rank).resume),
          .end = bottom + stacks_.usable_bytes(static_cast<std::size_t>(rank.world_rank))};
}

void JobPause::forget(const mpi::RankState& rank) {
  paused_[static_cast<std::size_t>(rank.world_rank)] = nullptr;
}

void JobPause::end(int outcome) {
  outcome_ = outcome;
  is_over_ = true;
  is_begun_ = false;
  // Relaxed: published by the end of the stop.
  arrived_count_.store(0, std::memory_order_relaxed);
  for (PausedRank*& paused : paused_) {
    if (paused == nullptr) continue;
    paused->rank->worker->make_ready(*paused->fiber);
    paused = nullptr;
  }
}

}  // namespace sorrel::runtime
