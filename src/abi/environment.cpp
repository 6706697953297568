// Start and end of MPI in a rank, and the clock. MPI 5.0, 11.2, 11.4, 9.6.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <time.h>

#include "abi/body.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/match/buffered.hpp"
#include "runtime/process_mode.hpp"
#include "runtime/rank_guests.hpp"

namespace sorrel::abi {

namespace {

int init(RankState& self, int required) {
  if (self.world_phase != mpi::Phase::before_init)
    return self.fail(MPI_ERR_OTHER, "MPI is already initialized; MPI_Init may be called once");
  self.thread_level = std::min(required, runtime::thread_level_max());
  self.calling_level = std::max(self.calling_level, self.thread_level);
  self.phase = self.world_phase = mpi::Phase::running;
  return MPI_SUCCESS;
}

/// Of the rank that calls, or that has started the calling thread. Such a thread does not wait for
/// the rank's worker, and asks at any thread level.
mpi::Phase world_phase_of_caller() {
  const RankState* self = rank_of_caller();
  if (self != nullptr) return self->world_phase;
  self = runtime::rank_of_thread();
  return self == nullptr ? mpi::Phase::before_init
                         : __atomic_load_n(&self->world_phase, __ATOMIC_RELAXED);
}

}  // namespace

void begin_rank(const char* function) {
  if (rank_of_caller() != nullptr || runtime::rank_of_thread() != nullptr) return;
  runtime::attach_calling_thread();
  merge_stand_in(*require_rank(function));
}

extern "C" {

int PMPI_Init(int* argc, char*** argv) {
  begin_rank("MPI_Init");
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Init, argc, argv);
  return call_any_time(running, "MPI_Init",
                       [&](RankState& self) { return init(self, MPI_THREAD_SINGLE); });
}
SORREL_WEAK(MPI_Init)

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  begin_rank("MPI_Init_thread");
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Init_thread, argc, argv, required, provided);
  const int result = call_any_time(running, "MPI_Init_thread", [&](RankState& self) {
    SORREL_NOT_NULL(provided);
    const int error = init(self, required);
    *provided = self.thread_level;
    return error;
  });
  if (running != nullptr) runtime::admit_started_threads(*running);
  return result;
}
SORREL_WEAK(MPI_Init_thread)

int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return raise_null("MPI_Initialized", "flag");
  *flag = world_phase_of_caller() != mpi::Phase::before_init ? 1 : 0;
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_Initialized)

int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return raise_null("MPI_Finalized", "flag");
  *flag = world_phase_of_caller() == mpi::Phase::finalized ? 1 : 0;
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_Finalized)

int PMPI_Abort(MPI_Comm /*comm*/, int errorcode) {
  // Only the low byte of a code reaches the exit status; an abort must not look like success.
  const int status = (errorcode & 0xff) != 0 ? errorcode & 0xff : 1;
  RankState* self = rank_of_caller();
  // A thread of a rank does not wait for the rank's worker.
  if (self == nullptr) self = runtime::rank_of_thread();
  if (self == nullptr && runtime::awaits_init()) {
    std::fprintf(stderr, "sorrel: called MPI_Abort with code %d before MPI_Init\n", errorcode);
    std::_Exit(status);
  }
  RankState& rank = self != nullptr ? *self : *require_rank("MPI_Abort");
  char message[96];
  std::snprintf(message, sizeof message, "rank %d: called MPI_Abort with code %d", rank.world_rank,
                errorcode);
  rank.world->job().end_job(&rank, status, message);
}
SORREL_WEAK(MPI_Abort)

double PMPI_Wtime(void) {
  // A rank that is lent, which none is under a seed, need not go home to read a clock.
  if (RankState* self = mpi::peek_rank(); self != nullptr && self->worker->is_seeded())
    return 1e-9 * static_cast<double>(self->worker->now_ns());
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
SORREL_WEAK(MPI_Wtime)

}  // extern "C"

namespace body {

int Finalize(RankState& self) {
  if (self.world_phase != mpi::Phase::running)
    return self.fail(
        MPI_ERR_OTHER, "called %s",
        self.world_phase == mpi::Phase::finalized ? "after MPI_Finalize" : "before MPI_Init");
  // The standard's order: attributes of MPI_COMM_SELF are deleted first, while MPI still works.
  const auto& attributes = self.self_comm.attributes;
  if (self.waiting_thread_count != 0)
    return self.fail(MPI_ERR_OTHER, "%d other thread(s) of the rank wait in calls of MPI",
                     self.waiting_thread_count);
  if (const int error = mpi::delete_attributes(MPI_COMM_SELF, attributes); error != MPI_SUCCESS)
    return error;
  flush_buffer(self, buffered_sends_of(self));
  for (Comm* comm : {&self.world_comm, &self.self_comm})
    if (comm->buffered_sends != nullptr) flush_buffer(self, *comm->buffered_sends);
  self.world_comm.call = mpi::CollectiveCall({.kind = mpi::CollectiveKind::finalize});
  if (const int error = mpi::barrier({self, self.world_comm}); error != MPI_SUCCESS) return error;
  self.world_phase = mpi::Phase::finalized;
  if (self.session_count > 0) return MPI_SUCCESS;
  self.phase = mpi::Phase::finalized;
  self.world->job().record_finalized(self);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
