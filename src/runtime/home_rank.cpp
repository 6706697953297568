#include "runtime/home_rank.hpp"

#include <atomic>

#include "arch/cpu.hpp"
#include "core/worker.hpp"

namespace sorrel::runtime {

namespace {

core::Worker* home_worker = nullptr;
std::atomic<std::uintptr_t> home_thread_pointer{0};

}  // namespace

void set_home_rank() {
  home_worker = core::Worker::current();
  // Release, pairs with is_main_thread(): the worker is written.
  home_thread_pointer.store(arch::thread_pointer(), std::memory_order_release);
}

bool is_home_rank(std::uintptr_t thread_pointer) {
  // Acquire, as above.
  return home_thread_pointer.load(std::memory_order_acquire) == thread_pointer;
}

void enter_home_rank() {
  core::Worker::set_current(home_worker);
}

void leave_home_rank() {
  core::Worker::set_current(nullptr);
}

}  // namespace sorrel::runtime
