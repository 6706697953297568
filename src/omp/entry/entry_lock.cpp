// omp_*_lock and omp_*_nest_lock, in the forms of OpenMP 2.5 (version OMP_1.0) and since 3.0, for C
// and for Fortran; no logic.
#include <cstdlib>
#include <new>

#include "base/check.hpp"
#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/told_lock.hpp"

namespace {

using namespace sorrel::omp;

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

/// omp_nest_lock_t of OpenMP 2.5: owned by a thread, in 8 bytes.
struct OldNestLock {
  Lock lock;
  /// Low 24 bits: the owner; high 8 bits: the depth.
  std::uint32_t owner_and_depth;

  std::int32_t take(const void*) { return take(true); }

  std::int32_t try_take(const void*) { return take(false); }

  bool give() {
    const std::uint32_t left = owner_and_depth - one_deeper;
    if (left >> 24 != 0) {
      (void)deepen(left);
      return false;
    }
    (void)deepen(0);
    lock.give();
    return true;
  }

 private:
  std::int32_t take(bool may_wait) {
    const std::uint32_t owner = owner_number();
    if (is_owner(owner)) {
      SORREL_CHECK(owner_and_depth >> 24 < depth_max);  // nested too deep for this form
      return deepen(owner_and_depth + one_deeper);
    }
    if (may_wait) {
      lock.take();
    } else if (!lock.try_take()) {
      return 0;
    }
    return deepen(owner | one_deeper);
  }

  [[nodiscard]] bool is_owner(std::uint32_t owner) {
    const std::uint32_t now = std::atomic_ref(owner_and_depth).load(std::memory_order_relaxed);
    return now != 0 && (now & owner_max) == owner;
  }

  std::int32_t deepen(std::uint32_t value) {
    std::atomic_ref(owner_and_depth).store(value, std::memory_order_relaxed);
    return static_cast<std::int32_t>(value >> 24);
  }
};

static_assert(sizeof(OldNestLock) == 8);

const void* owner() {
  return this_thread().task;
}

}  // namespace

// The C++ compiler has no symbol versions; the assembler has.
#define SORREL_VERSION_OF(function, name) asm(".symver " #function "," name)

#define SORREL_LOCK(suffix, tail)                                    \
  SORREL_VERSION_OF(init_lock_##suffix, "omp_init_lock" tail);       \
  SORREL_ENTRY_POINT void init_lock_##suffix(Lock* lock) {           \
    const ProgramCall call;                                          \
    new (lock) Lock;                                                 \
    tell_lock_init(ompt::Mutex::lock, 0, lock);                      \
  }                                                                  \
  SORREL_VERSION_OF(destroy_lock_##suffix, "omp_destroy_lock" tail); \
  SORREL_ENTRY_POINT void destroy_lock_##suffix(Lock* lock) {        \
    const ProgramCall call;                                          \
    tell_lock_destroy(ompt::Mutex::lock, lock);                      \
  }                                                                  \
  SORREL_VERSION_OF(set_lock_##suffix, "omp_set_lock" tail);         \
  SORREL_ENTRY_POINT void set_lock_##suffix(Lock* lock) {            \
    const ProgramCall call;                                          \
    take_told(*lock, ompt::Mutex::lock);                             \
  }                                                                  \
  SORREL_VERSION_OF(unset_lock_##suffix, "omp_unset_lock" tail);     \
  SORREL_ENTRY_POINT void unset_lock_##suffix(Lock* lock) {          \
    const ProgramCall call;                                          \
    give_told(*lock, ompt::Mutex::lock);                             \
  }                                                                  \
  SORREL_VERSION_OF(test_lock_##suffix, "omp_test_lock" tail);       \
  SORREL_ENTRY_POINT int test_lock_##suffix(Lock* lock) {            \
    const ProgramCall call;                                          \
    return try_take_told(*lock) ? 1 : 0;                             \
  }

SORREL_LOCK(25, "@OMP_1.0")
SORREL_LOCK(f_25, "_@OMP_1.0")
SORREL_LOCK(30, "@@OMP_3.0")
SORREL_LOCK(f_30, "_@@OMP_3.0")

SORREL_ENTRY_POINT void init_nest_lock_30(NestLock* lock) {
  const ProgramCall call;
  new (lock) NestLock{};
  tell_lock_init(ompt::Mutex::nest_lock, 0, lock);
}

SORREL_ENTRY_POINT void destroy_nest_lock_30(NestLock* lock) {
  const ProgramCall call;
  tell_lock_destroy(ompt::Mutex::nest_lock, lock);
}

SORREL_ENTRY_POINT void set_nest_lock_30(NestLock* lock) {
  const ProgramCall call;
  (void)take_nest_told(*lock, owner());
}

SORREL_ENTRY_POINT void unset_nest_lock_30(NestLock* lock) {
  const ProgramCall call;
  give_nest_told(*lock);
}

SORREL_ENTRY_POINT int test_nest_lock_30(NestLock* lock) {
  const ProgramCall call;
  return try_take_nest_told(*lock, owner());
}

// Fortran's variable has the size of a pointer: the lock lies elsewhere.
SORREL_ENTRY_POINT void init_nest_lock_f_30(NestLock** lock) {
  const ProgramCall call;
  *lock = new NestLock{};
  tell_lock_init(ompt::Mutex::nest_lock, 0, *lock);
}

SORREL_ENTRY_POINT void destroy_nest_lock_f_30(NestLock** lock) {
  const ProgramCall call;
  tell_lock_destroy(ompt::Mutex::nest_lock, *lock);
  delete *lock;
  *lock = nullptr;
}

SORREL_ENTRY_POINT void set_nest_lock_f_30(NestLock** lock) {
  const ProgramCall call;
  (void)take_nest_told(**lock, owner());
}

SORREL_ENTRY_POINT void unset_nest_lock_f_30(NestLock** lock) {
  const ProgramCall call;
  give_nest_told(**lock);
}

SORREL_ENTRY_POINT int test_nest_lock_f_30(NestLock** lock) {
  const ProgramCall call;
  return try_take_nest_told(**lock, owner());
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
    const ProgramCall call;                                                                \
    new (lock) OldNestLock{};                                                              \
    tell_lock_init(ompt::Mutex::nest_lock, 0, lock);                                       \
  }                                                                                        \
  SORREL_VERSION_OF(destroy_nest_lock_25##tail, "omp_destroy_nest_lock" #tail "@OMP_1.0"); \
  SORREL_ENTRY_POINT void destroy_nest_lock_25##tail(OldNestLock* lock) {                  \
    const ProgramCall call;                                                                \
    tell_lock_destroy(ompt::Mutex::nest_lock, lock);                                       \
  }                                                                                        \
  SORREL_VERSION_OF(set_nest_lock_25##tail, "omp_set_nest_lock" #tail "@OMP_1.0");         \
  SORREL_ENTRY_POINT void set_nest_lock_25##tail(OldNestLock* lock) {                      \
    const ProgramCall call;                                                                \
    (void)take_nest_told(*lock, nullptr);                                                  \
  }                                                                                        \
  SORREL_VERSION_OF(unset_nest_lock_25##tail, "omp_unset_nest_lock" #tail "@OMP_1.0");     \
  SORREL_ENTRY_POINT void unset_nest_lock_25##tail(OldNestLock* lock) {                    \
    const ProgramCall call;                                                                \
    give_nest_told(*lock);                                                                 \
  }                                                                                        \
  SORREL_VERSION_OF(test_nest_lock_25##tail, "omp_test_nest_lock" #tail "@OMP_1.0");       \
  SORREL_ENTRY_POINT int test_nest_lock_25##tail(OldNestLock* lock) {                      \
    const ProgramCall call;                                                                \
    return try_take_nest_told(*lock, nullptr);                                             \
  }

SORREL_OLD_NEST_LOCK()
SORREL_OLD_NEST_LOCK(_)
