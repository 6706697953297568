//! exit and its variants end a rank, not the process; handlers belong to the registering rank.
//!
//! Outside of ranks, in calls of the runtime itself, and in a child that a rank has forked, the C
//! library's own functions do the last step.

#include <cstdlib>
#include <unistd.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/rank/device_states.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

using AtExit = ExitHandlers::AtExit;

// Handlers of shared libraries belong to the process: their objects are shared by all ranks.
[[nodiscard]] RankProcess* owner_of(const void* shared_object) {
  RankProcess* process = process_of_thread();
  return process != nullptr && process->contains(reinterpret_cast<std::uintptr_t>(shared_object))
             ? process
             : nullptr;
}

[[noreturn]] void leave_process(int status) {
  next_definition<decltype(::_exit)>("_exit")(status);
  __builtin_unreachable();
}

[[noreturn]] void end(RankProcess& process, int status) {
  if (is_forked_child()) leave_process(status);
  end_device_state(process);
  process.streams().finish_lines();
  end_rank(process, status);
}

// The runtime itself ends the process, also from a rank's stack (a crash, MPI_Abort).
[[noreturn]] void exit_process(int status) {
  next_definition<decltype(::exit)>("exit")(status);
  __builtin_unreachable();
}

/// If a further thread of a rank calls: it ends the process, and the rank must have finalized MPI.
void check_end_by_thread(int status) {
  RankProcess* process = starter_of_thread();
  if (process != nullptr && !is_forked_child()) end_by_thread(*process, status);
}

/// _exit() and _Exit(), called from `caller`.
[[noreturn]] void exit_at_once(int status, const void* caller) {
  if (!is_of_process(caller)) {
    if (RankProcess* process = current_rank_process()) end(*process, status);
    check_end_by_thread(status);
  }
  leave_process(status);
}

}  // namespace

void exit_rank(int status) {
  if (RankProcess* process = current_rank_process()) end(*process, process->finish(status));
  check_end_by_thread(status);
  exit_process(status);
}

}  // namespace sorrel::program

SORREL_INTERPOSED void exit(int status) noexcept {
  using namespace sorrel::program;
  if (is_of_process(__builtin_return_address(0))) exit_process(status);
  exit_rank(status);
}

SORREL_INTERPOSED void quick_exit(int status) noexcept {
  using namespace sorrel::program;
  if (RankProcess* process = current_rank_process()) {
    process->exit_handlers().run_quick();
    end(*process, status);
  }
  check_end_by_thread(status);
  static auto* const real = next_definition<decltype(::quick_exit)>("quick_exit");
  real(status);
  __builtin_unreachable();
}

SORREL_INTERPOSED void _exit(int status) {
  sorrel::program::exit_at_once(status, __builtin_return_address(0));
}

SORREL_INTERPOSED void _Exit(int status) noexcept {
  sorrel::program::exit_at_once(status, __builtin_return_address(0));
}

SORREL_INTERPOSED int __cxa_atexit(void (*function)(void*),
                                   void* argument,
                                   void* shared_object) noexcept {
  using namespace sorrel::program;
  if (RankProcess* process = owner_of(shared_object)) {
    process->exit_handlers().add(function, argument, shared_object);
    return 0;
  }
  static auto* const real = next_definition<int(AtExit, void*, void*)>("__cxa_atexit");
  return real(function, argument, shared_object);
}

// Called by the destructors of a module, with an address in it; null at the end of the process.
SORREL_INTERPOSED void __cxa_finalize(void* shared_object) noexcept {
  using namespace sorrel::program;
  if (RankProcess* process = shared_object != nullptr ? owner_of(shared_object) : nullptr) {
    process->exit_handlers().run_of(shared_object);
    process->fork_handlers().remove_of(shared_object);
    return;
  }
  static auto* const real = next_definition<void(void*)>("__cxa_finalize");
  real(shared_object);
}

SORREL_INTERPOSED int __cxa_at_quick_exit(void (*function)(void*), void* shared_object) noexcept {
  using namespace sorrel::program;
  if (RankProcess* process = owner_of(shared_object)) {
    process->exit_handlers().add_quick(function, nullptr, shared_object);
    return 0;
  }
  static auto* const real = next_definition<int(AtExit, void*)>("__cxa_at_quick_exit");
  return real(function, shared_object);
}

SORREL_INTERPOSED int __cxa_thread_atexit_impl(void (*function)(void*),
                                               void* argument,
                                               void* shared_object) noexcept {
  using namespace sorrel::program;
  // Handlers of a thread that a rank has started run at the end of the thread.
  RankProcess* process = owner_of(shared_object);
  if (process != nullptr && process == current_rank_process()) {
    process->exit_handlers().add_thread_local(function, argument, shared_object);
    return 0;
  }
  static auto* const real = next_definition<int(AtExit, void*, void*)>("__cxa_thread_atexit_impl");
  return real(function, argument, shared_object);
}

SORREL_INTERPOSED int on_exit(void (*function)(int, void*), void* argument) noexcept {
  using namespace sorrel::program;
  if (RankProcess* process = current_rank_process()) {
    process->exit_handlers().add(function, argument);
    return 0;
  }
  static auto* const real = next_definition<decltype(::on_exit)>("on_exit");
  return real(function, argument);
}
