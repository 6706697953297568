#include "program/waits/yield.hpp"

// sched_yield, thrd_yield: a rank yields to the other ranks of its worker, and to other threads if
// no rank is ready.
#include <cstdint>
#include <sched.h>

#include "core/worker.hpp"
#include "os/thread.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

constexpr OutsideWait yield_wait{.call = "sched_yield", .is_endless = true};

/// The rank, if its own code calls. A library's call may come from a host MPI, which may run in
/// code that must not be interrupted.
RankProcess* rank_of_caller(const void* caller) {
  RankProcess* process = process_that_may_wait(caller);
  const bool is_own =
      process != nullptr && process->contains(reinterpret_cast<std::uintptr_t>(caller));
  return is_own ? process : nullptr;
}

/// Whether another rank has run.
bool yields(const void* caller) {
  RankProcess* process = rank_of_caller(caller);
  if (process == nullptr) return false;
  core::Worker& worker = *core::Worker::current();
  process->outside_wait().set(yield_wait);
  worker.poll();
  const bool has_ready = worker.has_ready();
  if (has_ready) worker.yield();
  process->outside_wait().clear();
  process->signals().run_pending(RankSignals::Interrupts::program, nullptr);
  return has_ready;
}

void yield(const void* caller) {
  if (!yields(caller)) os::yield_core();
}

}  // namespace

void give_way(const void* caller) {
  static_cast<void>(yields(caller));
}

}  // namespace sorrel::program

SORREL_INTERPOSED int sched_yield() noexcept {
  sorrel::program::yield(__builtin_return_address(0));
  return 0;
}

// <threads.h> cannot be included here: it declares thread_local for C.
SORREL_INTERPOSED void thrd_yield() {
  sorrel::program::yield(__builtin_return_address(0));
}
