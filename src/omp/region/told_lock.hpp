//! Locks of the program, as a tool learns of them. May suspend, except the attempts.
#pragma once

#include <new>

#include "omp/region/lock.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/tasking/tool_events.hpp"

namespace sorrel::omp {

inline void take_told(Lock& lock, ompt::Mutex kind) {
  if (!has_tool()) [[likely]]
    return lock.take();
  tell_acquire(this_thread(), kind, &lock);
  lock.take();
  tell_acquired(this_thread(), kind, &lock);
}

inline void give_told(Lock& lock, ompt::Mutex kind) {
  lock.give();
  if (has_tool()) [[unlikely]]
    tell_released(this_thread(), kind, &lock);
}

[[nodiscard]] inline bool try_take_told(Lock& lock) {
  if (!has_tool()) [[likely]]
    return lock.try_take();
  tell_acquire(this_thread(), ompt::Mutex::test_lock, &lock);
  const bool is_taken = lock.try_take();
  if (is_taken) {
    tell_acquired(this_thread(), ompt::Mutex::test_lock, &lock);
  } else {
    tell_not_acquired(this_thread());
  }
  return is_taken;
}

/// NestLock, or the form of OpenMP 2.5 in 8 bytes. take() of both returns the new depth.
template <class Nested>
std::int32_t take_nest_told(Nested& lock, const void* owner) {
  if (!has_tool()) [[likely]]
    return lock.take(owner);
  tell_acquire(this_thread(), ompt::Mutex::nest_lock, &lock);
  const std::int32_t depth = lock.take(owner);
  TeamThread& thread = this_thread();
  if (depth == 1) {
    tell_acquired(thread, ompt::Mutex::nest_lock, &lock);
  } else {
    tell_not_acquired(thread);
    tell_nest_lock(thread, ompt::Endpoint::begin, &lock);
  }
  return depth;
}

/// The new depth; 0: another owner holds it.
template <class Nested>
std::int32_t try_take_nest_told(Nested& lock, const void* owner) {
  if (!has_tool()) [[likely]]
    return lock.try_take(owner);
  TeamThread& thread = this_thread();
  tell_acquire(thread, ompt::Mutex::test_nest_lock, &lock);
  const std::int32_t depth = lock.try_take(owner);
  if (depth == 1) {
    tell_acquired(thread, ompt::Mutex::test_nest_lock, &lock);
  } else {
    tell_not_acquired(thread);
    if (depth != 0) tell_nest_lock(thread, ompt::Endpoint::begin, &lock);
  }
  return depth;
}

template <class Nested>
void give_nest_told(Nested& lock) {
  const bool is_free = lock.give();
  if (!has_tool()) [[likely]]
    return;
  if (is_free) {
    tell_released(this_thread(), ompt::Mutex::nest_lock, &lock);
  } else {
    tell_nest_lock(this_thread(), ompt::Endpoint::end, &lock);
  }
}

inline void tell_lock_init(ompt::Mutex kind, unsigned hint, const void* lock) {
  if (has_tool()) [[unlikely]]
    tell_lock_init(this_thread(), kind, hint, lock);
}

inline void tell_lock_destroy(ompt::Mutex kind, const void* lock) {
  if (has_tool()) [[unlikely]]
    tell_lock_destroy(this_thread(), kind, lock);
}

}  // namespace sorrel::omp
