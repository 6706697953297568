//! JobThreads - how our OpenMP library, in a process that is a job's, runs further threads of a
//! rank, and how they call MPI.
//!
//! Such a thread is a fiber that the job's scheduler does not know: for the scheduler the rank
//! runs. Of a rank that shares its process it runs on the rank's own worker, where it may do
//! whatever the rank may, send and receive included; when it waits in MPI the rank does. Of a rank
//! that is a process it runs on any core, and comes home to the rank's thread when it calls MPI.
//! libmpi_abi defines sorrel_job_threads_2(), and the OpenMP library sorrel_omp_come_home_1();
//! another layout gets another number.
#pragma once

#include <cstdint>

namespace sorrel::loop {

struct JobThreads {
  // Called by a rank, but for prepare().

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

  // Of a rank that is a process.

  /// Whether it is the thread of this control block. Any thread.
  bool (*is_home)(std::uintptr_t thread_pointer);
  /// On a fiber, where the rank's thread runs: it may call MPI as the rank, until leave_home().
  void (*enter_home)();
  void (*leave_home)();
};

}  // namespace sorrel::loop

extern "C" [[gnu::weak]] const sorrel::loop::JobThreads* sorrel_job_threads_2(void);

/// By a thread that is no rank and calls MPI: if it is a further OpenMP thread of one, it returns
/// as the rank, where that runs. Else false. May suspend.
extern "C" [[gnu::weak]] bool sorrel_omp_come_home_1(void);
