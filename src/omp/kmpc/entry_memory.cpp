// __kmpc_*, kmp_*: threadprivate variables, locks, memory, and the settings of Intel's library; no
// logic except the copies of threadprivate variables.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "omp/icv/environment.hpp"
#include "omp/kernel/spin_lock.hpp"
#include "omp/kmpc/interface.hpp"
#include "omp/region/allocator.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/told_lock.hpp"
#include "omp/tool/tool.hpp"

extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

namespace {

using namespace sorrel::omp;
using namespace sorrel::omp::kmpc;

/// How copies of a threadprivate variable are made. Functions for a single object do not notice the
/// count.
struct Constructors {
  void* (*construct)(void* copy, std::size_t count);
  void* (*construct_from)(void* copy, void* original, std::size_t count);
  void (*destroy)(void* copy, std::size_t count);
  std::size_t count;  ///< of objects in an array
  void* initial;      ///< its value before any thread has used it, if it has no constructor
};

struct Registry {
  SpinLock lock;
  std::unordered_map<const void*, Constructors>* constructors = nullptr;

  [[nodiscard]] Constructors& at(const void* variable) {
    if (constructors == nullptr) constructors = new std::unordered_map<const void*, Constructors>;
    return (*constructors)[variable];
  }
};

constinit Registry registry;

void* memory_of(std::size_t bytes) {
  void* const memory = std::calloc(1, std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) std::abort();
  return memory;
}

/// bytes: 0 if the variable is known.
Constructors constructors_of(const void* variable, std::size_t bytes) {
  registry.lock.lock();
  Constructors& known = registry.at(variable);
  if (bytes != 0 && known.initial == nullptr && known.construct == nullptr &&
      known.construct_from == nullptr) {
    known.initial = memory_of(bytes);
    std::memcpy(known.initial, variable, bytes);
  }
  const Constructors found = known;
  registry.lock.unlock();
  return found;
}

/// A thread's copies, destroyed with the thread.
struct Copies {
  std::unordered_map<const void*, void*> by_variable;

  Copies() = default;
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  ~Copies() {
    for (const auto& [variable, copy] : by_variable) {
      if (copy == variable) continue;
      const Constructors known = constructors_of(variable, 0);
      if (known.destroy != nullptr) known.destroy(copy, known.count);
      std::free(copy);
    }
  }
};

Copies& own_copies() {
  thread_local Copies copies;
  return copies;
}

void* copy_of(TeamThread& thread, void* variable, std::size_t bytes) {
  void*& copy = own_copies().by_variable[variable];
  if (copy != nullptr) return copy;
  const Constructors known = constructors_of(variable, bytes);
  // The first thread that uses OpenMP has the original.
  if (global_number(thread) == 0) return copy = variable;
  void* const made = memory_of(bytes);
  if (known.construct != nullptr) {
    (void)known.construct(made, known.count);
  } else if (known.construct_from != nullptr) {
    (void)known.construct_from(made, variable, known.count);
  } else {
    std::memcpy(made, known.initial, bytes);
  }
  return copy = made;
}

/// What the program has set; -1: nothing.
constinit std::atomic<int> own_blocktime{-1};

NestLock& nest_lock_of(void** lock) {
  return *static_cast<NestLock*>(*lock);
}

void make_lock(void** lock, unsigned hint) {
  new (lock) Lock;
  tell_lock_init(ompt::Mutex::lock, hint, lock);
}

void make_nest_lock(void** lock, unsigned hint) {
  *lock = new NestLock{};
  tell_lock_init(ompt::Mutex::nest_lock, hint, *lock);
}

AllocatorHandle resolve(AllocatorHandle allocator) {
  return allocator == null_allocator ? this_thread().allocator : allocator;
}

}  // namespace

SORREL_KMPC void __kmpc_threadprivate_register_vec(Ident*,
                                                   void* variable,
                                                   void* (*construct)(void*, std::size_t),
                                                   void* (*construct_from)(void*,
                                                                           void*,
                                                                           std::size_t),
                                                   void (*destroy)(void*, std::size_t),
                                                   std::size_t count) {
  registry.lock.lock();
  registry.at(variable) = {construct, construct_from, destroy, count, nullptr};
  registry.lock.unlock();
}

SORREL_KMPC void __kmpc_threadprivate_register(Ident* place,
                                               void* variable,
                                               void* (*construct)(void*, std::size_t),
                                               void* (*construct_from)(void*, void*, std::size_t),
                                               void (*destroy)(void*, std::size_t)) {
  __kmpc_threadprivate_register_vec(place, variable, construct, construct_from, destroy, 1);
}

SORREL_KMPC void* __kmpc_threadprivate(Ident*, std::int32_t, void* variable, std::size_t bytes) {
  return copy_of(this_thread(), variable, bytes);
}

// The cache stays null, so that the compiled code asks each time.
SORREL_KMPC void* __kmpc_threadprivate_cached(
    Ident*, std::int32_t, void* variable, std::size_t bytes, void***) {
  return copy_of(this_thread(), variable, bytes);
}

SORREL_KMPC void __kmpc_init_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  make_lock(lock, 0);
}

SORREL_KMPC void __kmpc_init_lock_with_hint(Ident*,
                                            std::int32_t,
                                            void** lock,
                                            std::uintptr_t hint) {
  const ProgramCall call;
  make_lock(lock, static_cast<unsigned>(hint));
}

SORREL_KMPC void __kmpc_destroy_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  tell_lock_destroy(ompt::Mutex::lock, lock);
}

SORREL_KMPC void __kmpc_set_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  take_told(*reinterpret_cast<Lock*>(lock), ompt::Mutex::lock);
}

SORREL_KMPC void __kmpc_unset_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  give_told(*reinterpret_cast<Lock*>(lock), ompt::Mutex::lock);
}

SORREL_KMPC int __kmpc_test_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  return try_take_told(*reinterpret_cast<Lock*>(lock)) ? 1 : 0;
}

SORREL_KMPC void __kmpc_init_nest_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  make_nest_lock(lock, 0);
}

SORREL_KMPC void __kmpc_init_nest_lock_with_hint(Ident*,
                                                 std::int32_t,
                                                 void** lock,
                                                 std::uintptr_t hint) {
  const ProgramCall call;
  make_nest_lock(lock, static_cast<unsigned>(hint));
}

SORREL_KMPC void __kmpc_destroy_nest_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  tell_lock_destroy(ompt::Mutex::nest_lock, *lock);
  delete &nest_lock_of(lock);
  *lock = nullptr;
}

SORREL_KMPC void __kmpc_set_nest_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  (void)take_nest_told(nest_lock_of(lock), this_thread().task);
}

SORREL_KMPC void __kmpc_unset_nest_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  give_nest_told(nest_lock_of(lock));
}

SORREL_KMPC int __kmpc_test_nest_lock(Ident*, std::int32_t, void** lock) {
  const ProgramCall call;
  return try_take_nest_told(nest_lock_of(lock), this_thread().task);
}

SORREL_KMPC void* __kmpc_alloc(int, std::size_t bytes, AllocatorHandle allocator) {
  return allocate({.bytes = bytes, .allocator = resolve(allocator)});
}

SORREL_KMPC void* __kmpc_aligned_alloc(int,
                                       std::size_t alignment,
                                       std::size_t bytes,
                                       AllocatorHandle allocator) {
  return allocate({.bytes = bytes, .alignment = alignment, .allocator = resolve(allocator)});
}

SORREL_KMPC void* __kmpc_calloc(int,
                                std::size_t count,
                                std::size_t bytes,
                                AllocatorHandle allocator) {
  if (bytes != 0 && count > std::numeric_limits<std::size_t>::max() / bytes) return nullptr;
  return allocate({.bytes = count * bytes, .allocator = resolve(allocator), .is_zeroed = true});
}

SORREL_KMPC void* __kmpc_realloc(
    int, void* memory, std::size_t bytes, AllocatorHandle allocator, AllocatorHandle) {
  if (memory == nullptr) return allocate({.bytes = bytes, .allocator = resolve(allocator)});
  if (bytes != 0) return reallocate(memory, bytes, allocator);
  deallocate(memory);
  return nullptr;
}

SORREL_KMPC void __kmpc_free(int, void* memory, AllocatorHandle) {
  deallocate(memory);
}

SORREL_KMPC AllocatorHandle __kmpc_init_allocator(int,
                                                  std::uintptr_t space,
                                                  int count,
                                                  const AllocatorTrait* traits) {
  return make_allocator(space, {traits, static_cast<std::size_t>(std::max(count, 0))});
}

SORREL_KMPC void __kmpc_destroy_allocator(int, AllocatorHandle allocator) {
  destroy_allocator(allocator);
}

SORREL_KMPC void __kmpc_set_default_allocator(int, AllocatorHandle allocator) {
  this_thread().allocator = allocator;
}

SORREL_KMPC AllocatorHandle __kmpc_get_default_allocator(int) {
  return this_thread().allocator;
}

// Intel's functions. Waiting threads spin as long as the governor lets them, so the time that a
// program sets has no effect.
SORREL_KMPC void kmp_set_blocktime(int milliseconds) {
  // Relaxed: a number by itself.
  own_blocktime.store(std::max(milliseconds, 0), std::memory_order_relaxed);
}

SORREL_KMPC int kmp_get_blocktime() {
  const int own = own_blocktime.load(std::memory_order_relaxed);
  if (own >= 0) return own;
  constexpr int milliseconds_default = 200;
  if (!environment().is_wait_given) return milliseconds_default;
  return environment().is_wait_active ? std::numeric_limits<int>::max() : 0;
}

SORREL_KMPC void kmp_set_disp_num_buffers(int) {}

SORREL_KMPC void kmp_set_defaults(const char*) {}

SORREL_KMPC void kmp_set_library(int) {}

SORREL_KMPC void kmp_set_library_serial() {}

SORREL_KMPC void kmp_set_library_turnaround() {}

SORREL_KMPC void kmp_set_library_throughput() {}

SORREL_KMPC int kmp_get_library() {
  constexpr int throughput = 3;
  return throughput;
}

SORREL_KMPC void kmp_set_stacksize(int) {}

SORREL_KMPC void kmp_set_stacksize_s(std::size_t) {}

SORREL_KMPC int kmp_get_stacksize() {
  return static_cast<int>(environment().stack_bytes);
}

SORREL_KMPC std::size_t kmp_get_stacksize_s() {
  return environment().stack_bytes;
}

SORREL_KMPC void kmp_set_warnings_on() {}

SORREL_KMPC void kmp_set_warnings_off() {}

SORREL_KMPC int kmp_get_num_threads() {
  return omp_get_num_threads();
}

SORREL_KMPC int kmp_get_thread_num() {
  return omp_get_thread_num();
}

SORREL_KMPC void* kmp_malloc(std::size_t bytes) {
  return std::malloc(bytes);
}

SORREL_KMPC void* kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) == 0 ? memory : nullptr;
}

SORREL_KMPC void* kmp_calloc(std::size_t count, std::size_t bytes) {
  return std::calloc(count, bytes);
}

SORREL_KMPC void* kmp_realloc(void* memory, std::size_t bytes) {
  return std::realloc(memory, bytes);
}

SORREL_KMPC void kmp_free(void* memory) {
  std::free(memory);
}

// The handles of predefined allocators and memory spaces are data to programs in Fortran, and
// before C++11.
#define SORREL_HANDLE(name, number) SORREL_KMPC const AllocatorHandle name = number;

extern "C" {
extern const AllocatorHandle omp_default_mem_space;
extern const AllocatorHandle omp_large_cap_mem_space;
extern const AllocatorHandle omp_const_mem_space;
extern const AllocatorHandle omp_high_bw_mem_space;
extern const AllocatorHandle omp_low_lat_mem_space;
extern const AllocatorHandle omp_null_allocator;
extern const AllocatorHandle omp_default_mem_alloc;
extern const AllocatorHandle omp_large_cap_mem_alloc;
extern const AllocatorHandle omp_const_mem_alloc;
extern const AllocatorHandle omp_high_bw_mem_alloc;
extern const AllocatorHandle omp_low_lat_mem_alloc;
extern const AllocatorHandle omp_cgroup_mem_alloc;
extern const AllocatorHandle omp_pteam_mem_alloc;
extern const AllocatorHandle omp_thread_mem_alloc;
}

SORREL_HANDLE(omp_default_mem_space, 0)
SORREL_HANDLE(omp_large_cap_mem_space, 1)
SORREL_HANDLE(omp_const_mem_space, 2)
SORREL_HANDLE(omp_high_bw_mem_space, 3)
SORREL_HANDLE(omp_low_lat_mem_space, 4)
SORREL_HANDLE(omp_null_allocator, 0)
SORREL_HANDLE(omp_default_mem_alloc, 1)
SORREL_HANDLE(omp_large_cap_mem_alloc, 2)
SORREL_HANDLE(omp_const_mem_alloc, 3)
SORREL_HANDLE(omp_high_bw_mem_alloc, 4)
SORREL_HANDLE(omp_low_lat_mem_alloc, 5)
SORREL_HANDLE(omp_cgroup_mem_alloc, 6)
SORREL_HANDLE(omp_pteam_mem_alloc, 7)
SORREL_HANDLE(omp_thread_mem_alloc, 8)

SORREL_KMPC int omp_control_tool(int command, int modifier, void* argument) {
  constexpr int no_tool = -2;
  constexpr int no_callback = -1;
  const ProgramCall call;
  if (!has_tool()) return no_tool;
  return tell_control(this_thread(), static_cast<std::uint64_t>(command),
                      static_cast<std::uint64_t>(modifier), argument)
      .value_or(no_callback);
}
