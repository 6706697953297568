//! DependTable - for each address in depend clauses, the children of a task that last wrote and
//! read it.
//!
//! Only the thread that runs the parent accesses it. It holds a reference on every task in it.
//! mutexinoutset and inoutset are treated as inout: allowed, and in the order of creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "omp/tasking/task.hpp"

namespace sorrel::omp {

/// One item of a depend clause.
struct Dependence {
  const void* address = nullptr;
  bool is_in = false;
};

/// Calls visit(Dependence) for each item of the compiler's array.
template <class Visit>
void for_each_dependence(void* const* depend, Visit visit) {
  const auto number = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(depend[i]); };
  constexpr std::uintptr_t kind_in = 1;
  if (number(0) != 0) {
    // Count, count of writers, addresses.
    for (std::uintptr_t i = 0; i < number(0); ++i)
      visit(Dependence{.address = depend[2 + i], .is_in = i >= number(1)});
    return;
  }
  // 0, count, counts of writers, of mutexinoutset items, of readers; the rest are depend objects.
  const std::uintptr_t writers = number(2) + number(3);
  const std::uintptr_t plain = writers + number(4);
  for (std::uintptr_t i = 0; i < number(1); ++i) {
    if (i < plain) {
      visit(Dependence{.address = depend[5 + i], .is_in = i >= writers});
    } else {
      void* const* object = static_cast<void* const*>(depend[5 + i]);
      visit(Dependence{.address = object[0],
                       .is_in = reinterpret_cast<std::uintptr_t>(object[1]) == kind_in});
    }
  }
}

class DependTable {
 public:
  /// Enters `task` with its dependences. Calls after(predecessor) for each task that must precede
  /// it; drop(task) releases a reference.
  template <class After, class Drop>
  void enter(Task& task, void* const* depend, After after, Drop drop) {
    for_each_dependence(depend, [&](const Dependence& item) {
      Entry& entry = find(item.address);
      if (item.is_in) {
        if (entry.writer != nullptr && entry.writer != &task) after(*entry.writer);
        if (entry.writer == &task) return;
        hold(task);
        entry.readers.push_back(&task);
        return;
      }
      for (Task* reader : entry.readers) {
        if (reader != &task) after(*reader);
      }
      if (entry.readers.empty() && entry.writer != nullptr && entry.writer != &task)
        after(*entry.writer);
      hold(task);
      for (Task* reader : entry.readers)
        drop(*reader);
      entry.readers.clear();
      if (entry.writer != nullptr) drop(*entry.writer);
      entry.writer = &task;
    });
  }

  /// The same for a waiter, which is not entered.
  template <class After>
  void look_up(void* const* depend, After after) {
    for_each_dependence(depend, [&](const Dependence& item) {
      Entry& entry = find(item.address);
      if (item.is_in || entry.readers.empty()) {
        if (entry.writer != nullptr) after(*entry.writer);
        return;
      }
      for (Task* reader : entry.readers)
        after(*reader);
    });
  }

  template <class Drop>
  void clear(Drop drop) {
    for (Entry& entry : entries_) {
      for (Task* reader : entry.readers)
        drop(*reader);
      if (entry.writer != nullptr) drop(*entry.writer);
    }
    entries_.clear();
    used_ = 0;
  }

 private:
  struct Entry {
    const void* address = nullptr;
    bool is_used = false;
    Task* writer = nullptr;
    std::vector<Task*> readers;
  };

  /// Adds the table's reference. The task cannot run yet, so no other thread changes the number.
  static void hold(Task& task) {
    SORREL_ASSERT(task.references.load(std::memory_order_relaxed) != 0);
    task.references.store(task.references.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  }

  static std::size_t hash(const void* address) {
    return static_cast<std::size_t>(
        (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ULL) >> 20);
  }

  Entry& find(const void* address) {
    if (entries_.empty() || used_ * 2 >= entries_.size()) grow();
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = hash(address) & mask;
    while (entries_[at].is_used && entries_[at].address != address)
      at = (at + 1) & mask;
    Entry& entry = entries_[at];
    if (!entry.is_used) {
      entry.is_used = true;
      entry.address = address;
      ++used_;
    }
    return entry;
  }

  void grow() {
    constexpr std::size_t size_min = 16;
    std::vector<Entry> old(entries_.empty() ? size_min : entries_.size() * 2);
    old.swap(entries_);
    const std::size_t mask = entries_.size() - 1;
    for (Entry& entry : old) {
      if (!entry.is_used) continue;
      std::size_t at = hash(entry.address) & mask;
      while (entries_[at].is_used)
        at = (at + 1) & mask;
      entries_[at] = std::move(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace sorrel::omp
