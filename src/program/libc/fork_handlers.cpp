//! pthread_atfork for ranks: the handlers that code of a rank's image registers run when that rank
//! forks, and not when another one does.
//!
//! Any thread of the rank. The C library has one entry for all ranks. It runs the handlers of the
//! rank that forks.

#include <pthread.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

using RegisterAtFork = int(void (*)(), void (*)(), void (*)(), void*);

ForkHandlers* handlers_of_caller() {
  RankProcess* process = process_of_thread();
  return process == nullptr ? nullptr : &process->fork_handlers();
}

void prepare() {
  if (ForkHandlers* handlers = handlers_of_caller()) handlers->prepare();
}

void in_parent() {
  if (ForkHandlers* handlers = handlers_of_caller()) handlers->in_parent();
}

void in_child() {
  if (ForkHandlers* handlers = handlers_of_caller()) handlers->in_child();
}

}  // namespace

}  // namespace sorrel::program

SORREL_INTERPOSED int __register_atfork(void (*prepare)(),
                                        void (*parent)(),
                                        void (*child)(),
                                        void* shared_object) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<RegisterAtFork>("__register_atfork");
  RankProcess* process = process_of_thread();
  if (process == nullptr || !process->contains(reinterpret_cast<std::uintptr_t>(shared_object)))
    return real(prepare, parent, child, shared_object);
  static const int error = real(sorrel::program::prepare, in_parent, in_child, nullptr);
  if (error == 0) process->fork_handlers().add({prepare, parent, child, shared_object});
  return error;
}
