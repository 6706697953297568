//! Thread control blocks (thread pointer, thread-locals, errno) that threads of workers exchange.
//!
//! Compilers keep the addresses of errno and of other thread-locals across calls, in frames of the
//! program and of this library. So a worker runs its fibers with the block of the thread on which
//! it began, also on another thread (README.md, "Fewer threads than workers"). The functions that
//! run with another block than their caller must not be inlined.
#pragma once

#include <cstdint>
#include <memory>

#include "os/tls_donor.hpp"

namespace sorrel::core {

/// A sanitizer finds its record of a thread by the control block: then each thread keeps its own.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool are_blocks_exchanged = false;
#else
inline constexpr bool are_blocks_exchanged = true;
#endif

/// On the calling thread, from here on: a pointer to a thread-local from before is stale.
void change_block(std::uintptr_t thread_pointer);

/// While it exists, the calling thread, whose block is `own`, uses `wanted`, if that is not 0.
class BlockInUse {
 public:
  BlockInUse(std::uintptr_t wanted, std::uintptr_t own)
      : own_(own), differs_(are_blocks_exchanged && wanted != own && wanted != 0) {
    if (differs_) [[unlikely]]
      change_block(wanted);
  }

  ~BlockInUse() {
    if (differs_) [[unlikely]]
      change_block(own_);
  }

  BlockInUse(const BlockInUse&) = delete;
  BlockInUse& operator=(const BlockInUse&) = delete;

 private:
  const std::uintptr_t own_;
  const bool differs_;
};

/// A block for a thread whose own is in use elsewhere.
class SpareBlock {
 public:
  /// With the locale of the caller. Null: the system starts no more threads, or the identity of
  /// the process has changed.
  [[nodiscard]] static std::unique_ptr<SpareBlock> make();

  SpareBlock(const SpareBlock&) = delete;
  SpareBlock& operator=(const SpareBlock&) = delete;

  /// The calling thread goes on with this block; leave(), by the same thread: with its own.
  void enter();
  void leave() const;

 private:
  SpareBlock() = default;

  os::TlsDonor donor_;
  std::uintptr_t own_ = 0;
};

}  // namespace sorrel::core
