//! DirectTable - what requests of messages do not say of data on devices: the memory that a rank
//! sends from, and the receives that may take data there.
//!
//! A part of the Buffers of a process whose ranks send messages to each other. Any thread.
#pragma once

#include <mutex>
#include <unordered_map>

#include "base/check.hpp"
#include "device/buffers.hpp"
#include "device/direct_memory.hpp"

namespace sorrel::device {

/// A receive, as its user has made it.
class DirectTarget {
 protected:
  ~DirectTarget() = default;
};

class DirectTable {
 public:
  /// What the rank, a key, sends from.
  void set_memory(const void* rank, DirectMemory& memory) {
    const std::scoped_lock lock(mutex_);
    memory_[rank] = &memory;
  }

  /// After set_memory().
  [[nodiscard]] DirectMemory& memory_of(const void* rank) const {
    const std::scoped_lock lock(mutex_);
    const auto found = memory_.find(rank);
    SORREL_CHECK(found != memory_.end(), "a rank that has sent nothing from a device");
    return *found->second;
  }

  /// The receive is into memory of the host at `host`, as the call of MPI sees it.
  void add(const void* host, DirectTarget& receive) {
    const std::scoped_lock lock(mutex_);
    SORREL_CHECK(targets_.emplace(host, &receive).second, "two receives into the same memory");
  }

  void remove(const void* host) {
    const std::scoped_lock lock(mutex_);
    targets_.erase(host);
  }

  /// Null: none.
  [[nodiscard]] DirectTarget* target_at(const void* host) const {
    const std::scoped_lock lock(mutex_);
    const auto found = targets_.find(host);
    return found != targets_.end() ? found->second : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, DirectMemory*> memory_;
  std::unordered_map<const void*, DirectTarget*> targets_;
};

/// That of the process: a rank has DirectMemory.
[[nodiscard]] inline DirectTable& direct_table() {
  auto* table = dynamic_cast<DirectTable*>(&buffers());
  SORREL_CHECK(table != nullptr, "each rank is a process");
  return *table;
}

}  // namespace sorrel::device
