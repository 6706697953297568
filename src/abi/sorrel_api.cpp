// The C interface beside MPI (include/sorrel.h).
#include "mpi/rank_state.hpp"
#include "sorrel.h"

extern "C" {

/// What sorrel_yield does; see yield.S for why it is not called by that name.
__attribute__((visibility("hidden"))) void sorrel_yield_ranks(void) {
  if (const sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->worker->yield();
}

__attribute__((visibility("default"))) const char* sorrel_version(void) {
  return SORREL_VERSION;
}

}  // extern "C"
