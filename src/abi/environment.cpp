// Start and end of MPI in a rank, and the clock. MPI 5.0, 11.2, 11.4, 9.6.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <time.h>

#include "abi/body.hpp"
#include "abi/device_call.hpp"
#include "abi/polled_memory.hpp"
#include "launch/exit_status.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/job/ports.hpp"
#include "mpi/match/buffered.hpp"
#include "mpi/match/wait.hpp"
#include "runtime/device_ranks.hpp"
#include "runtime/first_checkpoint.hpp"
#include "runtime/process_config.hpp"
#include "runtime/process_mode.hpp"
#include "runtime/program_calls.hpp"
#include "runtime/python/lines.hpp"
#include "runtime/rank_guests.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::abi {

namespace {

int init(RankState& self, int required) {
  if (self.world_phase != mpi::Phase::before_init)
    return self.fail(MPI_ERR_OTHER, "MPI is already initialized; MPI_Init may be called once");
  self.thread_level = std::min(required, runtime::thread_level_max());
  self.calling_level = std::max(self.calling_level, self.thread_level);
  self.world_phase = mpi::Phase::running;
  runtime::admit_calls(self);
  if (runtime::has_python_lines()) runtime::find_python(runtime::PythonSearch::first);
  return MPI_SUCCESS;
}

/// A rank may return from here in another process: nothing of this one is used afterwards.
int end_of_init(RankState* self, int result) {
  if (result == MPI_SUCCESS && self != nullptr) runtime::make_first_checkpoint(*self);
  return result;
}

/// Phase of the rank that calls, or that has started the calling thread. Such a thread does not
/// wait for the rank's worker, and asks at any thread level.
mpi::Phase world_phase_of_caller() {
  const RankState* self = rank_of_caller();
  if (self != nullptr) return self->world_phase;
  self = runtime::rank_of_thread();
  return self == nullptr ? mpi::Phase::before_init
                         : __atomic_load_n(&self->world_phase, __ATOMIC_RELAXED);
}

/// The rank's memory is given to another one when it has ended: nothing may be sent from it then.
void end_spawned(RankState& self) {
  for (Comm* comm : {&self.world_comm, &self.self_comm, self.spawned->parent}) {
    if (comm != nullptr) mpi::wait_for_released(self, *comm);
  }
  mpi::close_ports_of(self);
}

double read_seeded_clock(RankState& self) {
  if (self.window_count != 0) note_seeded_clock_read(self);
  return 1e-9 * static_cast<double>(self.worker->now_ns());
}

}  // namespace

void begin_rank(const char* function) {
  runtime::refuse_split_job();
  if (rank_of_caller() != nullptr || runtime::rank_of_thread() != nullptr) return;
  runtime::attach_calling_thread();
  merge_stand_in(*require_rank(function));
}

extern "C" {

int PMPI_Init(int* argc, char*** argv) {
  begin_rank("MPI_Init");
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Init, argc, argv);
  const int result = call_any_time(running, "MPI_Init",
                                   [&](RankState& self) { return init(self, MPI_THREAD_SINGLE); });
  return end_of_init(running, result);
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
  return end_of_init(running, result);
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
  const int status = failure_status(errorcode);
  RankState* self = rank_of_caller();
  // A thread of a rank does not wait for the rank's worker.
  if (self == nullptr) self = runtime::rank_of_thread();
  if (self == nullptr && runtime::awaits_init()) {
    std::fprintf(stderr, "sorrel: called MPI_Abort with code %d before MPI_Init\n", errorcode);
    symbols::write_calls(runtime::calls_of_program());
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
  RankState* self = mpi::peek_rank();
  if (self != nullptr && self->worker->is_seeded()) return read_seeded_clock(*self);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (self != nullptr && self->window_count != 0) [[unlikely]]
    note_clock_read(*self, std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
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
  if (self.spawned != nullptr) end_spawned(self);
  self.world_phase = mpi::Phase::finalized;
  if (self.session_count > 0) return MPI_SUCCESS;
  self.phase = mpi::Phase::finalized;
  if (device::has_buffers()) end_device_calls(self);
  self.world->job().record_finalized(self);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
