//! pthread_atfork for ranks: the handlers that code of a rank's image registers run when that rank
//! forks, and not when another one does.
//!
//! Any thread of the rank. The C library has one entry for all ranks. It runs the handlers of the
//! rank that forks.

#include <pthread.h>

#include "base/check.hpp"
#include "base/invariants.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

using RegisterAtFork = int(void (*)(), void (*)(), void (*)(), void*);

void prepare() {
  RankProcess* process = process_of_thread();
  if (process == nullptr) return;
  // Also those of the child, which has a copy of all.
  SORREL_ASSERT_INVARIANTS(*process);
  // The frames of fork() must stay on this thread.
  const bool is_rank = current_rank_process() != nullptr;
  if (is_rank) process->pin();
  process->fork_handlers().prepare();
}

void in_parent() {
  RankProcess* process = process_of_thread();
  if (process == nullptr) return;
  process->fork_handlers().in_parent();
  if (current_rank_process() != nullptr) process->unpin();
}

void in_child() {
  if (RankProcess* process = process_of_thread()) process->fork_handlers().in_child();
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
