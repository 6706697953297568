//! RankMappings - memory that a rank has mapped by itself, and not unmapped: no checkpoint has it.
//! And what the rank has changed of how its memory may be used.
//!
//! Any thread of the rank.
#pragma once

#include <cstddef>
#include <mutex>
#include <sys/mman.h>

#include "program/state/address_ranges.hpp"

namespace sorrel::program {

class RankMappings {
 public:
  /// Replaces what was there.
  void add(const void* address, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    forget(address, bytes);
    mapped_.add(address, bytes);
  }

  /// Memory of which a part is unmapped no longer counts where that is.
  void remove(const void* address, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    forget(address, bytes);
  }

  /// remove() of all that one add() with this address has added.
  void remove_whole(const void* address) {
    const std::scoped_lock lock(mutex_);
    forget(address, mapped_.bytes_from(address));
  }

  void add_protected(const void* address, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    protected_.add(address, bytes);
  }

  /// After madvise(). A checkpoint is written by a child process, which must see the memory as it
  /// is; a restarted rank has lost guards and advice. Other advice changes the speed alone.
  void note_advice(const void* address, std::size_t bytes, int advice) {
    // Advice of Linux 6.13.
    constexpr int guard_install = 102;
    constexpr int guard_remove = 103;
    const std::scoped_lock lock(mutex_);
    switch (advice) {
      case MADV_DONTFORK:
        return not_forked_.add(address, bytes);
      case MADV_DOFORK:
        return not_forked_.remove(address, bytes);
      case MADV_WIPEONFORK:
        return wiped_.add(address, bytes);
      case MADV_KEEPONFORK:
        return wiped_.remove(address, bytes);
      case guard_install:
        return guards_.add(address, bytes);
      case guard_remove:
        return guards_.remove(address, bytes);
      default:
        return;
    }
  }

  /// Why a checkpoint would not have the rank's memory, for a user; null: it has.
  [[nodiscard]] const char* reason_not_saved() const {
    const std::scoped_lock lock(mutex_);
    if (mapped_.any()) return "it has mapped memory (mmap, shmat, sbrk)";
    if (protected_.any() || guards_.any())
      return "it has changed the protection of memory (mprotect)";
    if (not_forked_.any() || wiped_.any())
      return "it keeps memory from child processes (madvise: MADV_DONTFORK, MADV_WIPEONFORK)";
    return nullptr;
  }

 private:
  void forget(const void* address, std::size_t bytes) {
    for (AddressRanges* ranges : {&mapped_, &not_forked_, &wiped_, &protected_, &guards_})
      ranges->remove(address, bytes);
  }

  mutable std::mutex mutex_;
  AddressRanges mapped_;
  AddressRanges not_forked_;
  AddressRanges wiped_;
  AddressRanges protected_;
  AddressRanges guards_;
};

}  // namespace sorrel::program
