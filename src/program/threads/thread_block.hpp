//! ThreadBlockSlab - thread control blocks for the ranks of a program with thread-local variables.
//!
//! Needed only if Image::needs_thread_block(). The code of such a program finds its variables at
//! fixed distances from the thread pointer, so each rank needs a thread pointer of its own. Only
//! the C library can make one: create() starts a thread (os::TlsDonor) that sleeps while the slab
//! exists, and the rank's fiber uses its block (core::Fiber::thread_pointer). The block includes
//! errno, malloc's cache and the C++ exception state.
//!
//! The blocks and the stacks of the sleeping threads lie side by side in one memory map. They have
//! no guards: a thread calls the functions below create(), receives no signal, and sleeps. Cost:
//! about 12 KiB and 10 us per rank. Limit: the number of threads a process may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "os/address_band.hpp"
#include "os/tls_donor.hpp"
#include "program/image/image_slab.hpp"

namespace sorrel::program {

class ThreadBlockSlab {
 public:
  using Prepare = void (*)(void* argument);

  /// Reserves addresses for `count` blocks, in `band` if that is possible; may be 0.
  ThreadBlockSlab(int count, const os::AddressBand& band);

  ThreadBlockSlab(const ThreadBlockSlab&) = delete;
  ThreadBlockSlab& operator=(const ThreadBlockSlab&) = delete;

  /// Lets the threads end: no fiber may use a block any more.
  ~ThreadBlockSlab();

  /// Whether the blocks lie in the band, or there are none.
  [[nodiscard]] bool is_in_band() const { return is_in_band_; }

  /// What create() has returned for the index; 0: it was not called.
  [[nodiscard]] std::uintptr_t created(int index) const;

  /// The value for the thread pointer register of rank `index` (fs base, tpidr_el0). Any thread,
  /// once for each index, after the rank's image was made. The thread-locals of this library are in
  /// the block too: `prepare` runs on the new thread and may set them. 0 if the system gives no
  /// memory or allows no more threads.
  [[nodiscard]] std::uintptr_t create(int index,
                                      const PrivatizedImage& copy,
                                      Prepare prepare,
                                      void* argument);

  /// The rank has ended, or there is none: create() may be called again.
  void end(int index);

 private:
  std::vector<std::unique_ptr<os::TlsDonor>> donors_;
  std::size_t block_bytes_ = 0;
  void* blocks_ = nullptr;
  bool is_in_band_ = true;
};

}  // namespace sorrel::program
