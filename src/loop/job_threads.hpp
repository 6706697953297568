//! JobThreads - how our OpenMP library, in a process that is a job's, runs further threads of a
//! rank on the rank's own worker.
//!
//! Such a thread is a fiber that the job's scheduler does not know: for the scheduler the rank
//! runs. So whatever the rank may do there, send and receive included, such a thread may do, and
//! when it waits in MPI the rank does. libmpi_abi defines sorrel_job_threads_1(); another layout
//! gets another number. All but prepare() are called by a rank.
#pragma once

#include <cstdint>

namespace sorrel::loop {

struct JobThreads {
  /// Whether a rank calls that shares its process with others.
  bool (*is_rank)();
  /// Where the scheduler keeps the rank's thread pointer: to be changed together with the register.
  std::uintptr_t* (*thread_pointer_place)();
  /// For prepare() of threads of this rank.
  void* (*describe)();
  /// On a new thread: its thread-locals become those of the rank's copy of the program.
  void (*prepare)(void* description);
  /// Lets other ranks run.
  void (*yield)();
};

}  // namespace sorrel::loop

extern "C" [[gnu::weak]] const sorrel::loop::JobThreads* sorrel_job_threads_1(void);
