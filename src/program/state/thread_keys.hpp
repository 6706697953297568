//! ThreadKeys - a rank's keys of thread-specific values (pthread_key_create).
//!
//! The C library has 1024 keys for all ranks together. So the n-th key of every rank is the same
//! key of the C library, made once. This class holds what differs between ranks: the destructors,
//! and the values of the rank's main thread. In threads that a rank has started, the C library's
//! value is a cell with the rank's value. Only keys that code of a rank's image makes are per rank;
//! keys of shared libraries are the process's.
//!
//! The rank's numbers for its keys lie behind those of the C library, and depend on what the rank
//! has made only. So they are the same in every process to which the rank goes.
#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <pthread.h>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"

namespace sorrel::program {

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
  [[nodiscard]] void* value(std::size_t slot) const {
    const Entry* entry = this->entry(slot);
    return entry == nullptr || !entry->is_in_use() ? nullptr : entry->value;
  }

  int set_value(std::size_t slot, void* value);

  /// For a thread that a rank has started, which calls. `keys`: the rank's; null: there is none.
  [[nodiscard]] static void* value_in_thread(std::size_t slot);
  static int set_value_in_thread(ThreadKeys* keys, std::size_t slot, void* value);

  /// The slot of a key that ranks have made; nothing for a key of the process.
  [[nodiscard]] static std::optional<std::size_t> slot_of(pthread_key_t key) {
    const std::size_t slot = std::size_t{key} - first_number;
    return key < first_number || slot >= key_count_max ? std::nullopt : std::optional(slot);
  }

  /// A library that ranks share has set a value of its own key in the rank's main thread. The C
  /// library keeps it in the thread control block of this process.
  void note_value_of_library() { has_value_of_library_ = true; }

  [[nodiscard]] bool has_value_of_library() const { return has_value_of_library_; }

  /// By the rank: no value without a key.
  void check_invariants() const;

  /// At the end of the rank's main thread, but not of its process: on its stack.
  void run_destructors();

  /// Keys, destructors by address, and values: for a rank whose memory is saved and restored, and
  /// which has no other thread. While the rank does not run.
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

 private:
  static constexpr std::size_t key_count_max = PTHREAD_KEYS_MAX;
  /// The C library's are smaller.
  static constexpr pthread_key_t first_number = PTHREAD_KEYS_MAX;

  /// The value of a key in a thread that a rank has started.
  struct Cell {
    ThreadKeys* keys;
    std::size_t slot;
    unsigned generation;
    void* value;

    /// Whether the key has been deleted since.
    [[nodiscard]] bool is_stale() const {
      return keys != nullptr && keys->generation(slot) != generation;
    }
  };

  struct Entry {
    std::atomic<unsigned> generation;
    std::atomic<Destructor> destructor;
    void* value;

    [[nodiscard]] bool is_in_use() const {
      return generation.load(std::memory_order_relaxed) % 2 != 0;
    }
  };

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };

  using Entries = std::unique_ptr<Entry[], Free>;

  static Entries make_entries() {
    return Entries(static_cast<Entry*>(std::calloc(key_count_max, sizeof(Entry))));
  }

  static std::optional<pthread_key_t> shared_key(std::size_t slot);
  static void end_cell(void* argument);

  /// Slots from the first one on that have ever been allocated.
  [[nodiscard]] std::size_t used_count() const;

  /// Number of times that the slot has been allocated, also while it is free. Any thread.
  [[nodiscard]] unsigned generation(std::size_t slot) const;

  [[nodiscard]] Destructor destructor(std::size_t slot) const;

  [[nodiscard]] Entry* entry(std::size_t slot) const {
    return entries_ == nullptr ? nullptr : &entries_[slot];
  }

  /// For all ranks: the C library's key of each slot; 0: none, else one more.
  static inline std::array<std::atomic<pthread_key_t>, key_count_max> key_of_slot_{};
  // Allocated at the first key; the system zeroes pages on first touch.
  Entries entries_;
  std::atomic_flag is_locked_;
  bool has_value_of_library_ = false;
};

}  // namespace sorrel::program
