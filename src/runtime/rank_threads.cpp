#include "runtime/rank_threads.hpp"

#include <atomic>

#include "core/worker.hpp"
#include "loop/job_threads.hpp"
#include "program/image/thread_image.hpp"
#include "program/rank/rank_process.hpp"
#include "runtime/main_thread_rank.hpp"

namespace sorrel::runtime {

namespace {

program::RankProcess* (*process_of_caller)() = nullptr;

// Relaxed: a rank's own use of OpenMP comes before its next burst.
std::atomic<bool> has_openmp{false};

/// Constant from a rank's first OpenMP thread on; ranks do not change workers.
struct Description {
  const program::PrivatizedImage copy;
  core::Worker* worker;
};

bool is_rank() {
  return process_of_caller != nullptr && process_of_caller() != nullptr;
}

std::uintptr_t* thread_pointer_address() {
  return &core::Worker::current()->running().thread_pointer;
}

void* describe() {
  return new Description{process_of_caller()->copy(), core::Worker::current()};
}

void prepare(void* argument) {
  const auto& description = *static_cast<const Description*>(argument);
  program::fill_thread_locals(description.copy);
  core::Worker::set_current(description.worker);
}

void yield() {
  core::Worker::current()->yield();
}

void** critical_name() {
  return process_of_caller()->openmp_critical_name();
}

}  // namespace

void set_rank_process_of_caller(program::RankProcess* (*of_caller)()) {
  process_of_caller = of_caller;
}

bool has_openmp_ranks() {
  return has_openmp.load(std::memory_order_relaxed);
}

}  // namespace sorrel::runtime

/// Called by this project's OpenMP library only. It is here and not among the other C bindings,
/// since it needs a program, and the tests of those have none.
extern "C" __attribute__((visibility("default"))) const sorrel::loop::JobThreads*
sorrel_job_threads_3(void) {
  using namespace sorrel::runtime;
  // A library with OpenMP may have been opened by a rank that is lent.
  static_cast<void>(is_rank());
  has_openmp.store(true, std::memory_order_relaxed);
  static constexpr sorrel::loop::JobThreads faces{.is_rank = is_rank,
                                                  .thread_pointer_address = thread_pointer_address,
                                                  .describe = describe,
                                                  .prepare = prepare,
                                                  .yield = yield,
                                                  .critical_name = critical_name,
                                                  .is_main_thread = is_main_thread,
                                                  .enter_main_thread = enter_main_thread,
                                                  .leave_main_thread = leave_main_thread};
  return &faces;
}
