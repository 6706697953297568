//! JobThreads - how the OpenMP library, in a process of a job, runs further threads of a rank, and
//! how these call MPI.
//!
//! Such a thread is a fiber that the job's scheduler does not know: the scheduler takes it for the
//! rank. If the rank shares its process, the fiber runs on the rank's own worker. There it may do
//! all that the rank may, including send and receive; when it waits in MPI, the rank does. If the
//! rank is a process, the fiber runs on any core, and migrates to the main thread when it calls
//! MPI. libmpi_abi defines sorrel_job_threads_3(), the OpenMP library
//! sorrel_omp_run_on_main_thread_1(); another layout gets another number.
#pragma once

#include <cstdint>

namespace sorrel::loop {

struct JobThreads {
  // Called by a rank, except prepare().

  /// Whether the caller is a rank that shares its process with others.
  bool (*is_rank)();
  /// Where the scheduler keeps the rank's thread pointer. Change it together with the register.
  std::uintptr_t* (*thread_pointer_address)();
  /// Argument for prepare() on threads of this rank.
  void* (*describe)();
  /// On a new thread: initializes its thread-locals from the rank's privatized image.
  void (*prepare)(void* description);
  /// Lets other ranks run.
  void (*yield)();
  /// A zeroed pointer in which the caller's rank, with all of its threads, keeps the lock of its
  /// unnamed critical construct.
  void** (*critical_name)();

  // For a rank that is a process.

  /// Whether the main thread has this control block. Any thread.
  bool (*is_main_thread)(std::uintptr_t thread_pointer);
  /// On a fiber on the main thread: it may call MPI as the rank, until leave_main_thread().
  void (*enter_main_thread)();
  void (*leave_main_thread)();
};

}  // namespace sorrel::loop

extern "C" [[gnu::weak]] const sorrel::loop::JobThreads* sorrel_job_threads_3(void);

/// Called by a thread that is no rank and calls MPI. If it is a further OpenMP thread of a rank, it
/// returns true as the rank, on the rank's main thread; else false. May suspend.
extern "C" [[gnu::weak]] bool sorrel_omp_run_on_main_thread_1(void);
