//! Reports fibers and switches between fibers to the thread and address sanitizers. Empty
//! otherwise.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sorrel::core {

/// State of one fiber for the sanitizers; a member of core::Fiber.
class SanitizerFiber {
 public:
  /// Takes over the fiber that a thread starts with.
  void adopt_thread() {
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_get_current_fiber();
#endif
#if defined(__SANITIZE_ADDRESS__)
    // The bounds of its stack are found again.
    bottom_ = nullptr;
#endif
  }

  void create([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_create_fiber(0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    bottom_ = bottom;
    bytes_ = bytes;
    // A fiber that ended on this stack has left marks of frames that never returned.
    __asan_unpoison_memory_region(bottom, bytes);
#endif
  }

  void destroy() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan_);
#endif
  }

  /// Last call before the registers are switched. `this` leaves; `ends`: for good.
  void before_switch_to([[maybe_unused]] SanitizerFiber& next, [[maybe_unused]] bool ends) {
#if defined(__SANITIZE_ADDRESS__)
    next.came_from_ = this;
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_stack_, next.bottom_, next.bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
    // Flag 0: the switch orders the two fibers, as it truly does on one thread. Fibers of different
    // workers stay unordered.
    __tsan_switch_to_fiber(next.tsan_, 0);
#endif
  }

  /// First act after the switch, on the stack of `this`.
  void after_switch() {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &bytes);
    // The first switch tells where the thread's own stack lies.
    if (came_from_ != nullptr && came_from_->bottom_ == nullptr) {
      came_from_->bottom_ = bottom;
      came_from_->bytes_ = bytes;
    }
#endif
  }

 private:
#if defined(__SANITIZE_THREAD__)
  void* tsan_ = nullptr;
#endif
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  SanitizerFiber* came_from_ = nullptr;
#endif
};

}  // namespace sorrel::core
