//! ThreadReferences - whether memory refers to certain threads: by an address in their thread
//! control blocks and thread-locals, or as the owner of a lock.
//!
//! Code that was compiled for one thread may keep such addresses: that of errno, of a table of
//! characters, of the thread itself (pthread_self()). A rank that changes its thread control block
//! must have none. A number that equals an address is taken for one. Relied on, of glibc: the place
//! of a control block beside the static thread-locals, and the owner in a pthread_mutex_t and a
//! pthread_rwlock_t.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

#include "os/thread_locals.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::os {

/// What is a thread's own.
struct ThreadIdentity {
  /// Its control block and static thread-locals.
  MemoryRange block;
  pid_t number = 0;

  /// Nothing: the C library does not tell the size of its control blocks. `iterate` replaces the
  /// process's own dl_iterate_phdr().
  [[nodiscard]] static std::optional<ThreadIdentity> of_calling_thread(
      IterateFiles iterate = dl_iterate_phdr);
};

struct ThreadReference {
  /// Where it lies.
  std::uintptr_t at = 0;
  /// A lock that the thread holds; else an address.
  bool is_lock = false;
};

class ThreadReferences {
 public:
  explicit ThreadReferences(std::vector<ThreadIdentity> threads);

  /// The first reference among the words of `memory`, which does not change meanwhile.
  [[nodiscard]] std::optional<ThreadReference> find(const MemoryRange& memory) const;

  /// Whether an address lies in the block of one of the threads.
  [[nodiscard]] bool is_of_thread(std::uintptr_t address) const;

 private:
  [[nodiscard]] bool is_number(std::uint64_t number) const;
  [[nodiscard]] bool is_lock(const std::uint64_t* word, const MemoryRange& memory) const;

  std::vector<ThreadIdentity> threads_;
  /// All blocks lie there: most words are elsewhere.
  MemoryRange blocks_;
  std::uint64_t least_number_;
  std::uint64_t largest_number_;
};

}  // namespace sorrel::os
