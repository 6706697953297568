// The C interface beside MPI (include/sorrel.h).
#include "mpi/rank_state.hpp"
#include "mpi/world.hpp"
#include "sorrel.h"

extern "C" {

/// What sorrel_yield does; see yield.S for why it is not called by that name.
__attribute__((visibility("hidden"))) void sorrel_yield_ranks(void) {
  if (const sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->worker->yield();
}

/// What sorrel_is_comm_worker does; the exported name may be libsorrel's.
__attribute__((visibility("hidden"))) int sorrel_is_comm_worker_of_rank(void) {
  const sorrel::mpi::RankState* self = sorrel::mpi::current_rank();
  return self != nullptr && self->world->has_comm_worker() ? 1 : 0;
}

/// The same for sorrel_explain_waits.
__attribute__((visibility("hidden"))) void sorrel_explain_waits_of_rank(
    sorrel_wait_explanation explain, void* argument) {
  if (sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->wait_explanation = {.explain = explain, .argument = argument};
}

__attribute__((visibility("default"))) int sorrel_is_comm_worker(void) {
  return sorrel_is_comm_worker_of_rank();
}

__attribute__((visibility("default"))) void sorrel_explain_waits(sorrel_wait_explanation explain,
                                                                 void* argument) {
  sorrel_explain_waits_of_rank(explain, argument);
}

__attribute__((visibility("default"))) const char* sorrel_version(void) {
  return SORREL_VERSION;
}

}  // extern "C"
