// The parallel loops of sorrel.h, as libmpi_abi and libsorrel export them.
#include "loop/binding.hpp"
#include "standalone/job.hpp"

namespace binding = sorrel::loop::binding;
using sorrel::standalone::job;

namespace {

int freeze_threads() {
  return job() != nullptr ? job()->freeze_threads() : binding::freeze_threads();
}

void set_threads(int count) {
  job() != nullptr ? job()->set_threads(count) : binding::set_threads(count);
}

}  // namespace

extern "C" {

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
  return binding::parallel_reduce(begin, end, body, combine, argument, result, bytes, options);
}

SORREL_EXPORT int sorrel_loop_threads(void) {
  return job() != nullptr ? job()->loop_threads() : binding::threads();
}

SORREL_EXPORT int sorrel_limit_threads(int count) {
  return job() != nullptr ? job()->limit_threads(count) : binding::limit_threads(count);
}

SORREL_EXPORT int sorrel_freeze_threads(void) {
  return freeze_threads();
}

SORREL_EXPORT void sorrel_set_threads(int count) {
  set_threads(count);
}

// The names of IRIX, for C and for Fortran.
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
