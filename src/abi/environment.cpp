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

namespace sorrel::abi {

namespace {

/// The highest supported level: other threads may exist, but only the rank's own fiber may call.
constexpr int thread_level_max = MPI_THREAD_FUNNELED;

int init(RankState& self, int required) {
  if (self.world_phase != mpi::Phase::before_init)
    return self.fail(MPI_ERR_OTHER, "MPI is already initialized; MPI_Init may be called once");
  self.thread_level = std::min(required, thread_level_max);
  self.phase = self.world_phase = mpi::Phase::running;
  return MPI_SUCCESS;
}

}  // namespace

void begin_rank(const char* function) {
  if (rank_of_caller() != nullptr) return;
  runtime::attach_calling_thread();
  merge_stand_in(*require_rank(function));
}

extern "C" {

int PMPI_Init(int* /*argc*/, char*** /*argv*/) {
  begin_rank("MPI_Init");
  return call_any_time("MPI_Init", [&](RankState& self) { return init(self, MPI_THREAD_SINGLE); });
}
SORREL_WEAK(MPI_Init)

int PMPI_Init_thread(int* /*argc*/, char*** /*argv*/, int required, int* provided) {
  begin_rank("MPI_Init_thread");
  return call_any_time("MPI_Init_thread", [&](RankState& self) {
    SORREL_NOT_NULL(provided);
    const int error = init(self, required);
    *provided = self.thread_level;
    return error;
  });
}
SORREL_WEAK(MPI_Init_thread)

int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return raise_null("MPI_Initialized", "flag");
  const RankState* self = rank_of_caller();
  *flag = self != nullptr && self->world_phase != mpi::Phase::before_init ? 1 : 0;
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_Initialized)

int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return raise_null("MPI_Finalized", "flag");
  const RankState* self = rank_of_caller();
  *flag = self != nullptr && self->world_phase == mpi::Phase::finalized ? 1 : 0;
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_Finalized)

int PMPI_Abort(MPI_Comm /*comm*/, int errorcode) {
  // Only the low byte of a code reaches the exit status; an abort must not look like success.
  const int status = (errorcode & 0xff) != 0 ? errorcode & 0xff : 1;
  if (rank_of_caller() == nullptr && runtime::awaits_init()) {
    std::fprintf(stderr, "sorrel: called MPI_Abort with code %d before MPI_Init\n", errorcode);
    std::_Exit(status);
  }
  RankState& self = enter("MPI_Abort");
  char message[96];
  std::snprintf(message, sizeof message, "rank %d: called MPI_Abort with code %d", self.world_rank,
                errorcode);
  self.world->job().end_job(&self, status, message);
}
SORREL_WEAK(MPI_Abort)

double PMPI_Wtime(void) {
  if (RankState* self = mpi::current_rank(); self != nullptr && self->worker->is_seeded())
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
