// The C interface in addition to MPI (include/sorrel.h).
#include "abi/thread_call.hpp"
#include "mpi/base/fortran_calls.h"
#include "mpi/base/returned_codes.h"
#include "mpi/comm/world.hpp"
#include "mpi/match/rank_state.hpp"
#include "sorrel.h"

extern "C" {

/// The body of sorrel_yield; yield.S states why it has another name.
__attribute__((visibility("hidden"))) void sorrel_yield_ranks(void) {
  if (const sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->worker->yield();
}

/// The body of sorrel_is_comm_worker; the exported name may be libsorrel's.
__attribute__((visibility("hidden"))) int sorrel_is_comm_worker_of_rank(void) {
  const sorrel::mpi::RankState* self = sorrel::mpi::current_rank();
  return self != nullptr && self->world->has_comm_worker() ? 1 : 0;
}

/// The body of sorrel_explain_waits, likewise.
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

__attribute__((visibility("default"))) void sorrel_announce_fortran(
    const sorrel_fortran_calls* calls) {
  if (sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->services().fortran_calls = calls;
}

void sorrel_set_returned_codes(int (*code_of)(int)) {
  if (sorrel::mpi::RankState* self = sorrel::mpi::current_rank(); self != nullptr)
    self->services().returned_code = code_of;
}

__attribute__((visibility("default"))) int sorrel_checkpoint(void) {
  sorrel::mpi::RankState* self = sorrel::mpi::current_rank();
  if (self != nullptr) return self->world->job().save_job(*self);
  // A rank that has started a thread takes part, and the line names it: the other ranks wait.
  const auto outcome = sorrel::abi::call_on_thread("sorrel_checkpoint", __builtin_return_address(0),
                                                   [] { return sorrel_checkpoint(); });
  return outcome.value_or(-1);
}

__attribute__((visibility("default"))) const char* sorrel_version(void) {
  return SORREL_VERSION;
}

}  // extern "C"
