// sorrel.h for programs without MPI: loops on this library's own threads. In a process of a job,
// every call goes to the library that runs the job.
#include "loop/binding.hpp"
#include "loop/job_bindings.hpp"

#define SORREL_EXPORT __attribute__((visibility("default")))

namespace binding = sorrel::loop::binding;

namespace {

/// The job's bindings, or null in a plain program. The symbol is bound when the library is loaded.
const sorrel::loop::JobBindings* job() {
  return sorrel_job_bindings_2 == nullptr ? nullptr : sorrel_job_bindings_2();
}

int freeze_threads() {
  return job() != nullptr ? job()->freeze_threads() : binding::freeze_threads();
}

void set_threads(int count) {
  job() != nullptr ? job()->set_threads(count) : binding::set_threads(count);
}

}  // namespace

extern "C" {

SORREL_EXPORT void sorrel_yield(void) {
  if (job() != nullptr) job()->yield();
}

SORREL_EXPORT const char* sorrel_version(void) {
  return SORREL_VERSION;
}

SORREL_EXPORT int sorrel_parallel_for(int64_t begin,
                                      int64_t end,
                                      sorrel_loop_body body,
                                      void* argument,
                                      const sorrel_loop_options* options) {
  if (job() != nullptr) [[unlikely]]
    return job()->parallel_for(begin, end, body, argument, options);
  return binding::parallel_for(begin, end, body, argument, options);
}

SORREL_EXPORT int sorrel_parallel_reduce(int64_t begin,
                                         int64_t end,
                                         sorrel_reduce_body body,
                                         sorrel_reduce_combine combine,
                                         void* argument,
                                         void* result,
                                         size_t bytes,
                                         const sorrel_loop_options* options) {
  if (job() != nullptr) [[unlikely]]
    return job()->parallel_reduce(begin, end, body, combine, argument, result, bytes, options);
  return binding::parallel_reduce({begin, end}, {body, combine, argument, result, bytes}, options);
}

SORREL_EXPORT int sorrel_loop_threads(void) {
  return job() != nullptr ? job()->loop_threads() : binding::threads();
}

SORREL_EXPORT int sorrel_freeze_threads(void) {
  return freeze_threads();
}

SORREL_EXPORT void sorrel_set_threads(int count) {
  set_threads(count);
}

SORREL_EXPORT int sorrel_is_comm_worker(void) {
  return job() != nullptr ? job()->is_comm_worker() : 0;
}

SORREL_EXPORT void sorrel_explain_waits(sorrel_wait_explanation explain, void* argument) {
  if (job() != nullptr) job()->explain_waits(explain, argument);
}

// IRIX's names, for C and for Fortran.
SORREL_EXPORT int mp_numthreads(void) {
  return freeze_threads();
}

SORREL_EXPORT int mp_numthreads_(void) {
  return freeze_threads();
}

SORREL_EXPORT void mp_set_numthreads(int count) {
  set_threads(count);
}

SORREL_EXPORT void mp_set_numthreads_(const int* count) {
  set_threads(*count);
}

}  // extern "C"
