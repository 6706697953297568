//! pthread_getattr_np for the calling thread of a rank: the stack that the rank runs on. The
//! thread's own is a worker's.

#include <pthread.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

SORREL_INTERPOSED int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  static auto* const real = next_definition<decltype(::pthread_getattr_np)>("pthread_getattr_np");
  if (const int error = real(thread, attributes); error != 0) return error;
  const void* caller = __builtin_return_address(0);
  if (is_of_process(caller) || ::pthread_equal(thread, ::pthread_self()) == 0) return 0;
  const RankProcess* process = current_rank_process();
  // A signal stack and a thread that a rank has started are the thread's.
  if (process == nullptr || !process->is_on_stack(__builtin_frame_address(0))) return 0;
  ::pthread_attr_setguardsize(attributes, 0);
  return ::pthread_attr_setstack(attributes, process->stack_bottom(), process->stack_bytes());
}
