// How libsorrel calls this library in a process that has both.
#include "loop/job_bindings.hpp"

#include "loop/binding.hpp"

namespace binding = sorrel::loop::binding;

// sorrel_api.cpp
extern "C" __attribute__((visibility("hidden"))) void sorrel_yield_ranks(void);
extern "C" __attribute__((visibility("hidden"))) int sorrel_is_comm_worker_of_rank(void);
extern "C" __attribute__((visibility("hidden"))) void sorrel_explain_waits_of_rank(
    sorrel_wait_explanation explain, void* argument);

extern "C" const sorrel::loop::JobBindings* sorrel_job_bindings_3(void) {
  // Not the exported names: if libsorrel is linked first, these refer to its functions.
  static constexpr sorrel::loop::JobBindings bindings{
      sorrel_yield_ranks,   binding::parallel_for,         binding::parallel_reduce,
      binding::threads,     binding::limit_threads,        binding::freeze_threads,
      binding::set_threads, sorrel_is_comm_worker_of_rank, sorrel_explain_waits_of_rank};
  return &bindings;
}
