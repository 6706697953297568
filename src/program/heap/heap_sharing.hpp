//! HeapSharing - threads that a rank starts allocate in its heap, under a lock.
//!
//! A heap is shared from the start of the rank's first thread until its owner, the code on the
//! rank's own stack, allocates after the last thread has ended. Only the owner changes that, while
//! it is alone, so the mark needs no atomic operation. While the heap is shared, everything that
//! allocates takes the lock, and blocks are freed onto the heap's lock-free list. README.md has the
//! reason why no call misses the mark.
#pragma once

#include <atomic>
#include <cstdint>
#include <pthread.h>

#include "base/check.hpp"
#include "heap/region_heap.hpp"

namespace sorrel::program {

/// Zero bytes are a heap that has never been shared.
struct HeapSharing {
  pthread_mutex_t mutex;
  std::uint32_t thread_count;
  /// 1: the C library's heap has given the rank memory, since the rank's own had none.
  std::uint32_t has_overflowed;

  void add_thread() { std::atomic_ref(thread_count).fetch_add(1, std::memory_order_relaxed); }

  /// (E) release: pairs with (N); the thread's last call is over.
  void remove_thread() {
    const std::uint32_t before =
        std::atomic_ref(thread_count).fetch_sub(1, std::memory_order_release);
    SORREL_ASSERT(before != 0, "a thread that does not share the heap ends");
  }

  /// (N) acquire: pairs with every (E).
  [[nodiscard]] bool has_threads() const {
    return std::atomic_ref(const_cast<std::uint32_t&>(thread_count))
               .load(std::memory_order_acquire) != 0;
  }
};

/// The heap of the rank that has started the calling thread; null on all other threads.
extern constinit thread_local heap::RegionHeap* heap_of_thread [[gnu::tls_model("initial-exec")]];

/// By the creator of a thread, before: the heap that it may share with the new one. Null: the
/// caller is neither on a rank's own stack nor a thread that shares a heap, or there are no heaps.
[[nodiscard]] heap::RegionHeap* share_heap_with_new_thread();

/// The thread could not be started, or ends. Null is no heap.
void stop_sharing(heap::RegionHeap* heap);

/// The right to use a heap for one call.
class HeapLock {
 public:
  /// `is_own`: on the rank's own stack; else in a thread of the rank.
  HeapLock(heap::RegionHeap& heap, bool is_own) {
    if (!is_own || heap.is_shared()) lock(heap, is_own);
  }

  ~HeapLock() {
    if (mutex_ != nullptr) ::pthread_mutex_unlock(mutex_);
  }

  HeapLock(const HeapLock&) = delete;
  HeapLock& operator=(const HeapLock&) = delete;

 private:
  void lock(heap::RegionHeap& heap, bool is_own);

  pthread_mutex_t* mutex_ = nullptr;
};

/// From now on a fork waits until no other thread of its rank uses the heap: the child has a copy
/// that is whole. Once.
void keep_heaps_whole_in_children();

}  // namespace sorrel::program
