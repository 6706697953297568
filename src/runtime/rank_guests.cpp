#include "runtime/rank_guests.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

#include "base/check.hpp"
#include "core/fiber_thread.hpp"
#include "core/guest.hpp"
#include "loop/job_threads.hpp"
#include "mpi.h"
#include "os/own_process.hpp"
#include "runtime/end/signal_stack.hpp"
#include "runtime/job.hpp"
#include "runtime/main_thread_rank.hpp"

namespace sorrel::runtime {

namespace {

ThreadSource source;
// For a process in process mode: threads may have started before MPI_Init. Relaxed: the starter
// calls MPI_Init later, or is ordered with its caller.
std::atomic<bool> has_started_any{false};

/// What the new thread of a rank takes over.
struct Move {
  mpi::RankState& rank;
  sigset_t blocked;
};

/// Runs on the new thread.
void prepare_thread(void* argument) {
  const auto& move = *static_cast<const Move*>(argument);
  install_signal_stack();
  auto& job = static_cast<Job&>(move.rank.world->job());
  job.body().on_move_out(move.rank);
  pthread_sigmask(SIG_SETMASK, &move.blocked, nullptr);
}

Job& job_of(const mpi::RankState& rank) {
  return static_cast<Job&>(rank.world->job());
}

/// The rank goes on outside of its worker, whose seat its threads may take.
void admit_threads(mpi::RankState& self) {
  bool has_moved = false;
  if (job_of(self).view().is_process_mode()) {
    has_moved = core::FiberThread::leave_attached(self.waiting_thread_count);
  } else {
    Move move{.rank = self, .blocked = {}};
    pthread_sigmask(SIG_SETMASK, nullptr, &move.blocked);
    has_moved = core::FiberThread::move_out(self.waiting_thread_count, prepare_thread, &move);
  }
  if (has_moved) return;
  char message[120];
  std::snprintf(message, sizeof message,
                "rank %d: the system starts no further thread (ulimit -u, pids.max)",
                self.world_rank);
  job_of(self).end_job(&self, 1, message);
}

/// Whether the caller is a rank's own flow of control, on its worker, and other threads may call.
bool can_admit(const mpi::RankState& self) {
  return self.calling_level >= MPI_THREAD_SERIALIZED && mpi::is_in_main_fiber(self) &&
         !self.fiber.is_guest;
}

}  // namespace

void set_thread_source(const ThreadSource& given) {
  source = given;
  os::record_own_process();
}

void before_thread_start() {
  if (os::is_forked_child()) return;
  has_started_any.store(true, std::memory_order_relaxed);
  mpi::RankState* self = mpi::current_rank();
  if (self != nullptr && can_admit(*self)) admit_threads(*self);
}

mpi::RankState* rank_of_thread() {
  if (const core::Guest* guest = core::Guest::current(); guest != nullptr)
    return static_cast<mpi::RankState*>(guest->fiber().user);
  if (source.rank_of_caller != nullptr) return source.rank_of_caller();
  return main_thread_rank();
}

void admit_started_threads(mpi::RankState& self) {
  if (!can_admit(self)) return;
  const Job& job = job_of(self);
  const bool has_any = job.view().is_process_mode()
                           ? has_started_any.load(std::memory_order_relaxed) ||
                                 source.sees_starts == nullptr || !source.sees_starts()
                           : job.body().started_thread_count(self) != 0;
  if (has_any) admit_threads(self);
}

int thread_level_max() {
  // Further threads of this project's OpenMP library are fibers of the rank: when one waits in
  // MPI, the rank does.
  return sorrel_omp_run_on_main_thread_1 != nullptr ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
}

ThreadCall::ThreadCall(const char* function, const void* call_site) {
  mpi::RankState* rank = rank_of_thread();
  if (rank == nullptr || !rank->fiber.is_guest) return;
  core::Guest* guest = core::Guest::current();
  if (guest == nullptr) {
    fiber_.user = rank;
    guest = &own_.emplace(*rank->worker, fiber_, rank->waiting_thread_count);
  } else if (guest->is_inside()) {
    // A signal handler interrupts a call.
    return;
  }
  guest->call = function;
  guest->call_site = call_site;
  guest->enter();
  SORREL_ASSERT(guest->is_inside(), "%s has not entered", function);
  guest_ = guest;
}

ThreadCall::~ThreadCall() {
  SORREL_ASSERT(guest_ == nullptr || guest_->is_inside(), "%s has left already", guest_->call);
  if (guest_ != nullptr) guest_->leave();
}

}  // namespace sorrel::runtime
