//! Locks of the program, as a tool learns of them. May suspend.
#pragma once

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
    tell_released(kind, &lock);
}

}  // namespace sorrel::omp
