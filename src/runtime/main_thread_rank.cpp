#include "runtime/main_thread_rank.hpp"

#include <atomic>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "core/worker.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::runtime {

namespace {

core::Worker* main_worker = nullptr;
mpi::RankState* main_rank = nullptr;
std::atomic<std::uintptr_t> main_thread_pointer{0};

}  // namespace

void set_main_thread_rank() {
  main_worker = core::Worker::current();
  main_rank = mpi::current_rank();
  SORREL_CHECK(main_worker != nullptr && main_rank != nullptr, "the main thread runs no rank");
  // Release, pairs with is_main_thread(): the worker is written.
  main_thread_pointer.store(arch::thread_pointer(), std::memory_order_release);
}

mpi::RankState* main_thread_rank() {
  // Acquire, as below.
  return main_thread_pointer.load(std::memory_order_acquire) == 0 ? nullptr : main_rank;
}

bool is_main_thread(std::uintptr_t thread_pointer) {
  // Acquire, as above.
  return main_thread_pointer.load(std::memory_order_acquire) == thread_pointer;
}

void enter_main_thread() {
  SORREL_ASSERT(main_worker != nullptr, "the main thread runs no rank");
  core::Worker::set_current(main_worker);
}

void leave_main_thread() {
  core::Worker::set_current(nullptr);
}

}  // namespace sorrel::runtime
