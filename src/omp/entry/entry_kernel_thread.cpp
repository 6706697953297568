// For the library that replaces functions of the C library (omp/threads): the kernel threads of
// OpenMP threads, and their waits in the C library; no logic.
#include <pthread.h>

#include "omp/entry/entry_point.hpp"
#include "omp/sched/own_thread_claim.hpp"

namespace {

using namespace sorrel::omp;

/// The record of a thread, as its own thread-local variable has it.
Thread* record_of(pthread_t thread) {
  // The variable has the same distance in every thread.
  const auto offset = reinterpret_cast<std::uintptr_t>(&own_thread) - pthread_self();
  return *reinterpret_cast<Thread**>(thread + offset);
}

}  // namespace

SORREL_ENTRY_POINT void sorrel_omp_claim_own_thread_1() {
  claim_own_thread();
}

SORREL_ENTRY_POINT void sorrel_omp_leave_native_thread_1() {
  leave_native_thread();
}

SORREL_ENTRY_POINT int sorrel_omp_yield_1() {
  return yield_in_program() ? 1 : 0;
}

SORREL_ENTRY_POINT void sorrel_omp_request_own_thread_1(pthread_t thread) {
  if (Thread* const record = record_of(thread)) request_own_thread(*record);
}
