//! ThreadBlock - a thread control block for a rank whose program has thread-local variables.
//!
//! Needed only if Image::needs_thread_block(). The code of such a program finds its variables at
//! fixed distances from the thread pointer, so each rank needs a thread pointer of its own. Only
//! the C library can make one: create() starts a thread that sleeps while the ThreadBlock exists,
//! and the rank's fiber uses its block (core::Fiber::thread_pointer). The block includes errno,
//! malloc's cache and the C++ exception state. create(): any thread, after the rank's image was
//! made. The thread-locals of this library are in the block too: `prepare` runs on the new thread
//! and may set them. Cost: about 12 KiB and 15 us per rank. Limit: the number of threads a process
//! may have.
#pragma once

#include <cstdint>
#include <memory>

#include "program/image/image_slab.hpp"

namespace sorrel::program {

class ThreadBlock {
 public:
  using Prepare = void (*)(void* argument);

  /// nullptr if the system allows no more threads; errno has the reason.
  [[nodiscard]] static std::unique_ptr<ThreadBlock> create(const PrivatizedImage& copy,
                                                           Prepare prepare,
                                                           void* argument);

  ThreadBlock(const ThreadBlock&) = delete;
  ThreadBlock& operator=(const ThreadBlock&) = delete;

  /// Lets the thread end: no fiber may use the block any more.
  ~ThreadBlock();

  /// The value for the fiber's thread pointer register (fs base, tpidr_el0).
  [[nodiscard]] std::uintptr_t thread_pointer() const { return thread_pointer_; }

 private:
  struct Parked;

  explicit ThreadBlock(std::unique_ptr<Parked> parked);

  std::unique_ptr<Parked> parked_;
  std::uintptr_t thread_pointer_ = 0;
};

}  // namespace sorrel::program
