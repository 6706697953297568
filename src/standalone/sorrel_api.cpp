// sorrel.h for programs without MPI, beside its loops (loop_calls.cpp). In a process of a job,
// every call goes to the library that runs the job.
#include "standalone/job.hpp"

using sorrel::standalone::job;

extern "C" {

SORREL_EXPORT void sorrel_yield(void) {
  if (job() != nullptr) job()->yield();
}

SORREL_EXPORT const char* sorrel_version(void) {
  return SORREL_VERSION;
}

SORREL_EXPORT int sorrel_is_comm_worker(void) {
  return job() != nullptr ? job()->is_comm_worker() : 0;
}

SORREL_EXPORT void sorrel_explain_waits(sorrel_wait_explanation explain, void* argument) {
  if (job() != nullptr) job()->explain_waits(explain, argument);
}

}  // extern "C"
