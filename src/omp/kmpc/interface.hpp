//! The types that compilers of LLVM and Intel pass to their OpenMP library, and what its entry
//! points share. Called on an OpenMP thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/region/lock.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"
#include "omp/worksharing/loop.hpp"

#define SORREL_KMPC extern "C" __attribute__((visibility("default")))

namespace sorrel::omp::kmpc {

/// A place in the source.
struct Ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;
};

/// Zeroed by the compiler; its first word is the lock.
struct CriticalName {
  std::int32_t words[8];
};

/// An outlined region: the thread's numbers, then pointers to the captured variables.
using Microtask = void (*)(std::int32_t* global_number, std::int32_t* number, ...);

/// What the compiler calls the global thread number, counted from 0. No other thread has it.
[[nodiscard]] std::int32_t global_number(TeamThread& thread);

inline Lock& lock_of(CriticalName* name) {
  return *reinterpret_cast<Lock*>(name);
}

/// Leaves a loop from which the thread has come by a cancellation. Before a barrier.
inline void leave_open_loop(TeamThread& thread) {
  if (thread.share != nullptr) [[unlikely]]
    end_loop(thread);
}

}  // namespace sorrel::omp::kmpc
