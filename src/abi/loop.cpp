// The C interface of parallel loops (include/sorrel.h), for programs linked with this library, and
// for libsorrel in a process that has both.
#include "loop/binding.hpp"
#include "loop/job_bindings.hpp"

namespace binding = sorrel::loop::binding;

// sorrel_api.cpp
extern "C" __attribute__((visibility("hidden"))) void sorrel_yield_ranks(void);
extern "C" __attribute__((visibility("hidden"))) int sorrel_is_comm_worker_of_rank(void);
extern "C" __attribute__((visibility("hidden"))) void sorrel_explain_waits_of_rank(
    sorrel_wait_explanation explain, void* argument);

namespace {

int reduce(int64_t begin,
           int64_t end,
           sorrel_reduce_body body,
           sorrel_reduce_combine combine,
           void* argument,
           void* result,
           size_t bytes,
           const sorrel_loop_options* options) {
  return binding::parallel_reduce({begin, end}, {body, combine, argument, result, bytes}, options);
}

}  // namespace

extern "C" {

int sorrel_parallel_for(int64_t begin,
                        int64_t end,
                        sorrel_loop_body body,
                        void* argument,
                        const sorrel_loop_options* options) {
  return binding::parallel_for(begin, end, body, argument, options);
}

int sorrel_parallel_reduce(int64_t begin,
                           int64_t end,
                           sorrel_reduce_body body,
                           sorrel_reduce_combine combine,
                           void* argument,
                           void* result,
                           size_t bytes,
                           const sorrel_loop_options* options) {
  return reduce(begin, end, body, combine, argument, result, bytes, options);
}

int sorrel_loop_threads(void) {
  return binding::threads();
}

int sorrel_freeze_threads(void) {
  return binding::freeze_threads();
}

void sorrel_set_threads(int count) {
  binding::set_threads(count);
}

// The names of IRIX, for C and for Fortran.
int mp_numthreads(void) {
  return binding::freeze_threads();
}

int mp_numthreads_(void) {
  return binding::freeze_threads();
}

void mp_set_numthreads(int count) {
  binding::set_threads(count);
}

void mp_set_numthreads_(const int* count) {
  binding::set_threads(*count);
}

const sorrel::loop::JobBindings* sorrel_job_bindings_2(void) {
  // Not the exported names: if libsorrel is linked first, these refer to its functions.
  static constexpr sorrel::loop::JobBindings faces{sorrel_yield_ranks,
                                                   binding::parallel_for,
                                                   reduce,
                                                   binding::threads,
                                                   binding::freeze_threads,
                                                   binding::set_threads,
                                                   sorrel_is_comm_worker_of_rank,
                                                   sorrel_explain_waits_of_rank};
  return &faces;
}

}  // extern "C"
