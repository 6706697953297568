#include "program/heap/heap_sharing.hpp"

#include "arch/stack_pointer.hpp"
#include "base/check.hpp"
#include "program/base/fork_hold.hpp"
#include "program/heap/rank_heaps.hpp"

namespace sorrel::program {

constinit thread_local heap::RegionHeap* heap_of_thread [[gnu::tls_model("initial-exec")]] =
    nullptr;

namespace {

/// The heap of the rank whose own stack this is, or null.
heap::RegionHeap* heap_of_stack() {
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.index_of_stack(arch::stack_pointer());
  return index < heaps.count() ? &heaps.heap_of(index) : nullptr;
}

/// The lock of the heap that a forking thread shares, or null.
pthread_mutex_t* mutex_of_caller() {
  heap::RegionHeap* heap = heap_of_thread;
  if (heap == nullptr) {
    heap = heap_of_stack();
    if (heap == nullptr || !heap->is_shared()) return nullptr;
  }
  return &rank_heaps().sharing_of(*heap).mutex;
}

void lock_for_fork() {
  if (pthread_mutex_t* mutex = mutex_of_caller()) ::pthread_mutex_lock(mutex);
}

void unlock_after_fork() {
  if (pthread_mutex_t* mutex = mutex_of_caller()) ::pthread_mutex_unlock(mutex);
}

}  // namespace

heap::RegionHeap* share_heap_with_new_thread() {
  heap::RegionHeap* heap = heap_of_thread;
  if (heap == nullptr) {
    heap = heap_of_stack();
    if (heap == nullptr) return nullptr;
    heap->set_shared(true);
  }
  rank_heaps().sharing_of(*heap).add_thread();
  return heap;
}

void stop_sharing(heap::RegionHeap* heap) {
  if (heap != nullptr) rank_heaps().sharing_of(*heap).remove_thread();
}

void HeapLock::lock(heap::RegionHeap& heap, bool is_own) {
  HeapSharing& sharing = rank_heaps().sharing_of(heap);
  SORREL_ASSERT(is_own || heap.is_shared(), "a thread uses a heap that is not shared");
  // No thread is left, and only the owner could start another one.
  if (is_own && !sharing.has_threads()) {
    heap.set_shared(false);
    return;
  }
  mutex_ = &sharing.mutex;
  ::pthread_mutex_lock(mutex_);
}

void keep_heaps_whole_in_children() {
  // The first to be registered: handlers of the program may allocate.
  hold_over_forks(lock_for_fork, unlock_after_fork);
}

}  // namespace sorrel::program
