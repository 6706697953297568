//! ThreadKeys - a rank's keys of thread-specific values (pthread_key_create).
//!
//! The C library has 1024 keys for all ranks together. So the n-th key of every rank is the same
//! key of the C library, made once. This class holds what differs between ranks: the destructors,
//! and the values of the rank's main thread. In threads that a rank has started, the C library's
//! value is a cell with the rank's value. Only keys that the program itself makes are per rank;
//! keys of shared libraries are the process's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <pthread.h>

namespace sorrel::program {

class RankProcess;

class ThreadKeys {
 public:
  using Destructor = void (*)(void* value);

  ThreadKeys() = default;
  ThreadKeys(const ThreadKeys&) = delete;
  ThreadKeys& operator=(const ThreadKeys&) = delete;

  /// As pthread_key_create() and pthread_key_delete(). Any thread of the rank.
  int create(pthread_key_t& key, Destructor at_end);
  int remove(std::size_t slot);

  /// For the rank's main thread, which calls; null and EINVAL for a key that does not exist.
  [[nodiscard]] void* value(std::size_t slot) const;
  int set_value(std::size_t slot, void* value);

  /// Number of times that the slot has been allocated, also while it is free. Any thread.
  [[nodiscard]] unsigned generation(std::size_t slot) const;

  [[nodiscard]] Destructor destructor(std::size_t slot) const;

  /// At the end of the rank's main thread, but not of its process: on its stack.
  void run_destructors();

 private:
  struct Entry {
    std::atomic<unsigned> generation;
    std::atomic<Destructor> destructor;
    void* value;
  };

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };

  [[nodiscard]] Entry* entry(std::size_t slot) const;

  // Allocated at the first key; the system zeroes pages on first touch.
  std::unique_ptr<Entry[], Free> entries_;
  std::atomic_flag is_locked_;
};

}  // namespace sorrel::program
