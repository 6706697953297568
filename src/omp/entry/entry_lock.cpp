// omp_*_lock and omp_*_nest_lock, in the forms of OpenMP 2.5 (version OMP_1.0) and since 3.0, for C
// and for Fortran; no logic.
#include <cstdlib>
#include <new>

#include "base/check.hpp"
#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/told_lock.hpp"

namespace {

using namespace sorrel::omp;

/// omp_nest_lock_t of OpenMP 2.5: owned by a thread, in 8 bytes.
struct OldNestLock {
  Lock lock;
  /// Low 24 bits: the owner; high 8 bits: the depth.
  std::uint32_t owner_and_depth;
};

static_assert(sizeof(OldNestLock) == 8);

constexpr std::uint32_t owner_max = 0xFF'FFFF;
constexpr std::uint32_t depth_max = 0xFF;
constexpr std::uint32_t one_deeper = 1U << 24;

/// The calling thread's own, from 1.
std::uint32_t owner_number() {
  static std::atomic<std::uint32_t> last{0};
  thread_local std::uint32_t number = 0;
  if (number == 0) number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  SORREL_CHECK(number <= owner_max);  // threads that have used such a lock
  return number;
}

bool is_owner(OldNestLock& lock, std::uint32_t owner) {
  const std::uint32_t now = std::atomic_ref(lock.owner_and_depth).load(std::memory_order_relaxed);
  return now != 0 && (now & owner_max) == owner;
}

int deepen(OldNestLock& lock, std::uint32_t value) {
  std::atomic_ref(lock.owner_and_depth).store(value, std::memory_order_relaxed);
  return static_cast<int>(value >> 24);
}

int old_take(OldNestLock* lock, bool may_wait) {
  const std::uint32_t owner = owner_number();
  if (is_owner(*lock, owner)) {
    SORREL_CHECK(lock->owner_and_depth >> 24 < depth_max);  // nested too deep for this form
    return deepen(*lock, lock->owner_and_depth + one_deeper);
  }
  if (may_wait) {
    lock->lock.take();
  } else if (!lock->lock.try_take()) {
    return 0;
  }
  return deepen(*lock, owner | one_deeper);
}

void old_give(OldNestLock* lock) {
  const std::uint32_t left = lock->owner_and_depth - one_deeper;
  if (left >> 24 != 0) {
    (void)deepen(*lock, left);
    return;
  }
  (void)deepen(*lock, 0);
  lock->lock.give();
}

const void* owner() {
  return this_thread().task;
}

}  // namespace

// The C++ compiler has no symbol versions; the assembler has.
#define SORREL_VERSION_OF(function, name) asm(".symver " #function "," name)

#define SORREL_LOCK(suffix, tail)                                    \
  SORREL_VERSION_OF(init_lock_##suffix, "omp_init_lock" tail);       \
  SORREL_ENTRY_POINT void init_lock_##suffix(Lock* lock) {           \
    new (lock) Lock;                                                 \
  }                                                                  \
  SORREL_VERSION_OF(destroy_lock_##suffix, "omp_destroy_lock" tail); \
  SORREL_ENTRY_POINT void destroy_lock_##suffix(Lock*) {}            \
  SORREL_VERSION_OF(set_lock_##suffix, "omp_set_lock" tail);         \
  SORREL_ENTRY_POINT void set_lock_##suffix(Lock* lock) {            \
    take_told(*lock, ompt::Mutex::lock);                             \
  }                                                                  \
  SORREL_VERSION_OF(unset_lock_##suffix, "omp_unset_lock" tail);     \
  SORREL_ENTRY_POINT void unset_lock_##suffix(Lock* lock) {          \
    give_told(*lock, ompt::Mutex::lock);                             \
  }                                                                  \
  SORREL_VERSION_OF(test_lock_##suffix, "omp_test_lock" tail);       \
  SORREL_ENTRY_POINT int test_lock_##suffix(Lock* lock) {            \
    return lock->try_take() ? 1 : 0;                                 \
  }

SORREL_LOCK(25, "@OMP_1.0")
SORREL_LOCK(f_25, "_@OMP_1.0")
SORREL_LOCK(30, "@@OMP_3.0")
SORREL_LOCK(f_30, "_@@OMP_3.0")

SORREL_ENTRY_POINT void init_nest_lock_30(NestLock* lock) {
  new (lock) NestLock{};
}

SORREL_ENTRY_POINT void destroy_nest_lock_30(NestLock*) {}

SORREL_ENTRY_POINT void set_nest_lock_30(NestLock* lock) {
  lock->take(owner());
}

SORREL_ENTRY_POINT void unset_nest_lock_30(NestLock* lock) {
  lock->give();
}

SORREL_ENTRY_POINT int test_nest_lock_30(NestLock* lock) {
  return lock->try_take(owner());
}

// Fortran's variable has the size of a pointer: the lock lies elsewhere.
SORREL_ENTRY_POINT void init_nest_lock_f_30(NestLock** lock) {
  *lock = new NestLock{};
}

SORREL_ENTRY_POINT void destroy_nest_lock_f_30(NestLock** lock) {
  delete *lock;
  *lock = nullptr;
}

SORREL_ENTRY_POINT void set_nest_lock_f_30(NestLock** lock) {
  (*lock)->take(owner());
}

SORREL_ENTRY_POINT void unset_nest_lock_f_30(NestLock** lock) {
  (*lock)->give();
}

SORREL_ENTRY_POINT int test_nest_lock_f_30(NestLock** lock) {
  return (*lock)->try_take(owner());
}

SORREL_VERSION_OF(init_nest_lock_30, "omp_init_nest_lock@@OMP_3.0");
SORREL_VERSION_OF(destroy_nest_lock_30, "omp_destroy_nest_lock@@OMP_3.0");
SORREL_VERSION_OF(set_nest_lock_30, "omp_set_nest_lock@@OMP_3.0");
SORREL_VERSION_OF(unset_nest_lock_30, "omp_unset_nest_lock@@OMP_3.0");
SORREL_VERSION_OF(test_nest_lock_30, "omp_test_nest_lock@@OMP_3.0");
SORREL_VERSION_OF(init_nest_lock_f_30, "omp_init_nest_lock_@@OMP_3.0");
SORREL_VERSION_OF(destroy_nest_lock_f_30, "omp_destroy_nest_lock_@@OMP_3.0");
SORREL_VERSION_OF(set_nest_lock_f_30, "omp_set_nest_lock_@@OMP_3.0");
SORREL_VERSION_OF(unset_nest_lock_f_30, "omp_unset_nest_lock_@@OMP_3.0");
SORREL_VERSION_OF(test_nest_lock_f_30, "omp_test_nest_lock_@@OMP_3.0");

#define SORREL_OLD_NEST_LOCK(tail)                                                         \
  SORREL_VERSION_OF(init_nest_lock_25##tail, "omp_init_nest_lock" #tail "@OMP_1.0");       \
  SORREL_ENTRY_POINT void init_nest_lock_25##tail(OldNestLock* lock) {                     \
    new (lock) OldNestLock{};                                                              \
  }                                                                                        \
  SORREL_VERSION_OF(destroy_nest_lock_25##tail, "omp_destroy_nest_lock" #tail "@OMP_1.0"); \
  SORREL_ENTRY_POINT void destroy_nest_lock_25##tail(OldNestLock*) {}                      \
  SORREL_VERSION_OF(set_nest_lock_25##tail, "omp_set_nest_lock" #tail "@OMP_1.0");         \
  SORREL_ENTRY_POINT void set_nest_lock_25##tail(OldNestLock* lock) {                      \
    (void)old_take(lock, true);                                                            \
  }                                                                                        \
  SORREL_VERSION_OF(unset_nest_lock_25##tail, "omp_unset_nest_lock" #tail "@OMP_1.0");     \
  SORREL_ENTRY_POINT void unset_nest_lock_25##tail(OldNestLock* lock) {                    \
    old_give(lock);                                                                        \
  }                                                                                        \
  SORREL_VERSION_OF(test_nest_lock_25##tail, "omp_test_nest_lock" #tail "@OMP_1.0");       \
  SORREL_ENTRY_POINT int test_nest_lock_25##tail(OldNestLock* lock) {                      \
    return old_take(lock, false);                                                          \
  }

SORREL_OLD_NEST_LOCK()
SORREL_OLD_NEST_LOCK(_)
