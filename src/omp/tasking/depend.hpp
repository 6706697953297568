//! DependTable - for each address in depend clauses, the children of a task that last wrote and
//! read it.
//!
//! Only the thread that runs the parent accesses it. It holds a reference on every task in it.
//! Before it takes more memory, it drops the tasks that have finished: so its size follows the
//! number of unfinished tasks. mutexinoutset and inoutset are treated as inout: allowed, and in the
//! order of creation. A null address is omp_all_memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "omp/tasking/task.hpp"

namespace sorrel::omp {

/// The numbers are omp_depend_kind's of GCC; `out` is reported as inout.
enum class DependenceKind : std::uintptr_t {
  in = 1,
  out = 2,
  inout = 3,
  mutexinoutset = 4,
  inoutset = 5
};

/// One item of a depend clause.
struct Dependence {
  const void* address = nullptr;
  DependenceKind kind = DependenceKind::inout;

  [[nodiscard]] bool is_in() const { return kind == DependenceKind::in; }
};

/// Calls visit(Dependence) for each item of the compiler's array.
template <class Visit>
void for_each_dependence(void* const* depend, Visit visit) {
  const auto number = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(depend[i]); };
  if (number(0) != 0) {
    // Count, count of writers, addresses.
    for (std::uintptr_t i = 0; i < number(0); ++i)
      visit(Dependence{.address = depend[2 + i],
                       .kind = i < number(1) ? DependenceKind::inout : DependenceKind::in});
    return;
  }
  // 0, count, counts of writers, of mutexinoutset items, of readers; the rest are depend objects.
  const std::uintptr_t writers = number(2);
  const std::uintptr_t mutexes = writers + number(3);
  const std::uintptr_t plain = mutexes + number(4);
  for (std::uintptr_t i = 0; i < number(1); ++i) {
    void* const item = depend[5 + i];
    if (i < plain) {
      auto kind = DependenceKind::inout;
      if (i >= writers) kind = i < mutexes ? DependenceKind::mutexinoutset : DependenceKind::in;
      visit(Dependence{.address = item, .kind = kind});
    } else {
      void* const* const object = static_cast<void* const*>(item);
      const auto kind = static_cast<DependenceKind>(reinterpret_cast<std::uintptr_t>(object[1]));
      visit(Dependence{.address = object[0], .kind = kind});
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
      if (all_writer_ != nullptr && all_writer_ != &task) after(*all_writer_);
      if (item.address == nullptr) {
        enter_for_all(task, after, drop);
        return;
      }
      Entry& entry = find(item.address, drop);
      if (item.is_in()) {
        enter_reader(entry, task, after, drop);
      } else {
        enter_writer(entry, task, after, drop);
      }
    });
  }

  /// As enter(), for a waiter, which is not entered.
  template <class After>
  void look_up(void* const* depend, After after) {
    for_each_dependence(depend, [&](const Dependence& item) {
      if (all_writer_ != nullptr) after(*all_writer_);
      if (item.address == nullptr) {
        for_each_task([&](Task& task) { after(task); });
        return;
      }
      const Entry* entry = find_if_used(item.address);
      if (entry == nullptr) return;
      if (item.is_in() || entry->readers.empty()) {
        if (entry->writer != nullptr) after(*entry->writer);
        return;
      }
      for (Task* reader : entry->readers)
        after(*reader);
    });
  }

  template <class Drop>
  void clear(Drop drop) {
    for_each_task(drop);
    if (all_writer_ != nullptr) drop(*all_writer_);
    all_writer_ = nullptr;
    entries_.clear();
    used_ = 0;
  }

  /// Addresses that it can hold without more memory.
  [[nodiscard]] std::size_t room() const { return entries_.size() / 2; }

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

  /// Calls visit(task) for the last writer and the readers of every address.
  template <class Visit>
  void for_each_task(Visit visit) {
    for (Entry& entry : entries_) {
      for (Task* reader : entry.readers)
        visit(*reader);
      if (entry.writer != nullptr) visit(*entry.writer);
    }
  }

  template <class After, class Drop>
  static void enter_reader(Entry& entry, Task& task, After after, Drop drop) {
    if (entry.writer != nullptr && entry.writer != &task) after(*entry.writer);
    if (entry.writer == &task) return;
    if (entry.readers.size() == entry.readers.capacity()) make_room_for_readers(entry, drop);
    hold(task);
    entry.readers.push_back(&task);
  }

  template <class After, class Drop>
  static void enter_writer(Entry& entry, Task& task, After after, Drop drop) {
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
  }

  /// `task` depends on all tasks, and all later tasks depend on it.
  template <class After, class Drop>
  void enter_for_all(Task& task, After after, Drop drop) {
    if (all_writer_ == &task) return;
    for_each_task([&](Task& other) {
      if (&other != &task) after(other);
    });
    hold(task);
    clear(drop);
    all_writer_ = &task;
  }

  static bool has_finished(Task& task) {
    // The lock orders what the task did before what its later successors do.
    task.lock.lock();
    const bool has_finished = task.has_finished;
    task.lock.unlock();
    return has_finished;
  }

  template <class Drop>
  static void drop_finished_readers(Entry& entry, Drop drop) {
    std::erase_if(entry.readers, [&](Task* reader) {
      if (!has_finished(*reader)) return false;
      drop(*reader);
      return true;
    });
  }

  template <class Drop>
  static void make_room_for_readers(Entry& entry, Drop drop) {
    drop_finished_readers(entry, drop);
    const std::size_t room = entry.readers.capacity();
    if (entry.readers.size() > room / 2) entry.readers.reserve(room * 2);
  }

  static std::size_t hash(const void* address) {
    return static_cast<std::size_t>(
        (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15ULL) >> 20);
  }

  [[nodiscard]] const Entry* find_if_used(const void* address) const {
    if (entries_.empty()) return nullptr;
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = hash(address) & mask;
    while (entries_[at].is_used && entries_[at].address != address)
      at = (at + 1) & mask;
    return entries_[at].is_used ? &entries_[at] : nullptr;
  }

  template <class Drop>
  Entry& find(const void* address, Drop drop) {
    if (entries_.empty() || used_ * 2 >= entries_.size()) make_room(drop);
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

  /// Drops finished tasks and addresses without tasks; grows if more than a quarter is still used.
  template <class Drop>
  void make_room(Drop drop) {
    constexpr std::size_t size_min = 16;
    std::size_t count = 0;
    for (Entry& entry : entries_) {
      drop_finished_readers(entry, drop);
      if (entry.writer != nullptr && has_finished(*entry.writer)) {
        drop(*entry.writer);
        entry.writer = nullptr;
      }
      entry.is_used = entry.writer != nullptr || !entry.readers.empty();
      count += entry.is_used ? 1 : 0;
    }
    const std::size_t size = std::max(entries_.size(), size_min);
    std::vector<Entry> old(count * 4 > size ? size * 2 : size);
    old.swap(entries_);
    used_ = count;
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
  /// The last task that depends on all memory. All tasks in the entries are later.
  Task* all_writer_ = nullptr;
};

}  // namespace sorrel::omp
