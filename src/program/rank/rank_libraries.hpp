//! RankLibraries - a rank's instances of the libraries that it has opened with dlopen().
//!
//! Any thread of the rank, with a Lock held for everything but what says otherwise. Constructors
//! and destructors run on the calling thread, under the lock, as the loader runs them under its
//! own; they may suspend and open further libraries.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "program/image/opened_library.hpp"

namespace sorrel::program {

class RankProcess;

class RankLibraries {
 public:
  /// The caller's exclusive use of a rank's libraries. Recursive. May suspend.
  class Lock {
   public:
    explicit Lock(RankLibraries& libraries);
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();

   private:
    RankLibraries& libraries_;
  };

  explicit RankLibraries(RankProcess& process);
  RankLibraries(const RankLibraries&) = delete;
  RankLibraries& operator=(const RankLibraries&) = delete;
  ~RankLibraries();

  /// One more use of the library, with the flags of dlopen(). Makes what instances are missing, of
  /// it and of what it needs, and runs their constructors. Returns why not, or "".
  [[nodiscard]] std::string open(const OpenedLibrary& library, int flags);

  /// One use less. Instances that are no longer used run their destructors and are removed. False
  /// if the rank does not use the library.
  [[nodiscard]] bool close(const OpenedLibrary& library);

  [[nodiscard]] bool has(const OpenedLibrary& library) const { return find(library) != nullptr; }

  [[nodiscard]] bool any() const { return !instances_.empty(); }

  /// Opened with RTLD_GLOBAL, in this order, each with what it needs.
  [[nodiscard]] const OpenedLibrary::Scope& globals() const { return globals_; }

  /// At the end of the rank, on its stack and without a lock. If a destructor calls exit(), that
  /// call continues.
  void run_destructors();

  /// When the rank has ended, by any thread: its instances are removed.
  void remove_all();

  /// Whether an instance of this rank holds the address. Any thread, without a lock, also from a
  /// signal handler.
  [[nodiscard]] bool contains(std::uintptr_t address) const;

  /// The index of the rank's images in every slab.
  [[nodiscard]] int index() const { return index_; }

 private:
  struct Instance {
    explicit Instance(const OpenedLibrary& opened) : library(&opened) {}

    const OpenedLibrary* library;
    int use_count = 0;
    bool is_kept = false;
    bool is_initialised = false;
    bool is_finalised = false;
    /// Libraries to which its pointers lead.
    std::set<const OpenedLibrary*> bound_to;
  };

  [[nodiscard]] Instance* find(const OpenedLibrary& library) const;
  void add_in_order(const OpenedLibrary& library);
  [[nodiscard]] std::string make(Instance& instance, const OpenedLibrary::Scope& scope);
  [[nodiscard]] std::string bind(Instance& instance, const OpenedLibrary::Scope& scope);
  void write(const Instance& instance, const Binding& binding, std::uintptr_t target) const;
  void construct(Instance& instance);
  void destruct(Instance& instance);
  [[nodiscard]] bool must_stay(const Instance& instance) const;
  [[nodiscard]] std::set<const OpenedLibrary*> find_used() const;
  void remove_unused();
  void remove(const Instance& instance);

  RankProcess& process_;
  const int index_;
  /// The thread or rank that holds the lock, 0: none; and how often.
  std::atomic<std::uintptr_t> owner_ = 0;
  int depth_ = 0;
  /// In the order of their constructors.
  std::vector<std::unique_ptr<Instance>> instances_;
  OpenedLibrary::Scope globals_;
  /// Definitions, in template images, of symbols that a process has once.
  std::map<std::string, std::uintptr_t> unique_symbols_;
};

}  // namespace sorrel::program
