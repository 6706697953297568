//! pthread_exit in a rank: the end of its main thread.
//!
//! As in a process of its own: cleanup handlers and destructors of the stack's frames run, then the
//! rank waits for the threads that it has started, and then it ends as by exit(0). The worker's
//! thread continues. The C library has a list of cleanup handlers per thread, a rank its own.

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

constexpr OutsideWait threads_wait{.call = "pthread_exit, for threads that it has started",
                                   .is_endless = true};
constexpr std::int64_t look_distance_ns = 1'000'000;

[[noreturn]] void end_rank_after_threads(RankProcess& process) {
  process.thread_keys().run_destructors();
  while (process.started_threads().any())
    process.sleep(threads_wait, look_distance_ns);
  exit_rank(0);
}

/// A word of the C library's in the handler points to the handler that was pushed before it.
__pthread_unwind_buf_t*& before(__pthread_unwind_buf_t& handler) {
  static_assert(sizeof handler.__pad >= sizeof(__pthread_unwind_buf_t*));
  return *reinterpret_cast<__pthread_unwind_buf_t**>(&handler.__pad[0]);
}

[[noreturn]] void jump_to(__pthread_unwind_buf_t& handler) {
  siglongjmp(reinterpret_cast<__jmp_buf_tag*>(&handler.__cancel_jmp_buf[0]), 1);
}

/// Called before each frame: runs the handlers of the frames that are gone. Ends the rank at the
/// first frame of this library below main().
_Unwind_Reason_Code leave_frame(int /*version*/,
                                _Unwind_Action actions,
                                _Unwind_Exception_Class /*kind*/,
                                _Unwind_Exception* /*exception*/,
                                _Unwind_Context* context,
                                void* argument) {
  auto& process = *static_cast<RankProcess*>(argument);
  ThreadCleanups& cleanups = process.thread_cleanups();
  const auto* code = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  const bool is_ours = is_of_process(code);
  cleanups.is_past_call |= !is_ours;
  const bool is_end =
      (actions & _UA_END_OF_STACK) != 0 || code == nullptr || (is_ours && cleanups.is_past_call);
  const auto frame = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));
  __pthread_unwind_buf_t* handler = cleanups.last;
  if (handler != nullptr && (is_end || frame > reinterpret_cast<std::uintptr_t>(handler)))
    jump_to(*handler);
  if (is_end) end_rank_after_threads(process);
  return _URC_NO_REASON;
}

/// The unwinder that the program's own frames were compiled for, as in the C library.
decltype(&_Unwind_ForcedUnwind) forced_unwind() {
  static auto* const found = [] {
    void* library = ::dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr
                              : reinterpret_cast<decltype(&_Unwind_ForcedUnwind)>(
                                    loader_dlsym()(library, "_Unwind_ForcedUnwind"));
  }();
  return found;
}

void end_badly(_Unwind_Reason_Code /*reason*/, _Unwind_Exception* /*exception*/) {
  std::fputs("sorrel: pthread_exit: a catch block has not rethrown\n", stderr);
  std::abort();
}

[[noreturn]] void unwind(RankProcess& process) {
  ThreadCleanups& cleanups = process.thread_cleanups();
  cleanups.is_past_call = false;
  cleanups.exception = {};
  cleanups.exception.exception_cleanup = end_badly;
  if (auto* const unwind_stack = forced_unwind())
    unwind_stack(&cleanups.exception, leave_frame, &process);
  // Reached without an unwinder, or at a frame without unwind information.
  if (cleanups.last != nullptr) jump_to(*cleanups.last);
  end_rank_after_threads(process);
}

[[nodiscard]] RankProcess* process_unless_forked() {
  RankProcess* process = current_rank_process();
  return process == nullptr || is_forked_child() ? nullptr : process;
}

}  // namespace

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED void pthread_exit(void* result) {
  static auto* const real = next_definition<void(void*)>("pthread_exit");
  if (RankProcess* process = process_unless_forked()) {
    process->leave_handlers(0, UINTPTR_MAX);
    // For good: the unwinder's frames lie below those that it calls.
    process->pin();
    unwind(*process);
  }
  real(result);
  __builtin_unreachable();
}

// pthread_cleanup_push() and pthread_cleanup_pop() expand to these functions.

SORREL_INTERPOSED void __pthread_register_cancel(__pthread_unwind_buf_t* handler) {
  static auto* const real =
      next_definition<decltype(::__pthread_register_cancel)>("__pthread_register_cancel");
  RankProcess* process = process_unless_forked();
  if (process == nullptr) return real(handler);
  before(*handler) = process->thread_cleanups().last;
  process->thread_cleanups().last = handler;
}

SORREL_INTERPOSED void __pthread_unregister_cancel(__pthread_unwind_buf_t* handler) {
  static auto* const real =
      next_definition<decltype(::__pthread_unregister_cancel)>("__pthread_unregister_cancel");
  RankProcess* process = process_unless_forked();
  if (process == nullptr) return real(handler);
  process->thread_cleanups().last = before(*handler);
}

SORREL_INTERPOSED void __pthread_unwind_next(__pthread_unwind_buf_t* handler) {
  static auto* const real = next_definition<void(__pthread_unwind_buf_t*)>("__pthread_unwind_next");
  RankProcess* process = process_unless_forked();
  if (process == nullptr) {
    real(handler);
    __builtin_unreachable();
  }
  process->thread_cleanups().last = before(*handler);
  unwind(*process);
}
