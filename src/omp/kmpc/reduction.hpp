//! Reductions over tasks, as compilers of LLVM and Intel describe them: private copies of each
//! thread, combined into the variables when the group of tasks ends. Called on an OpenMP thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/team/team_thread.hpp"

namespace sorrel::omp::kmpc {

/// One variable of the compiler's list.
struct ReductionItem {
  void* shared;    ///< the variable, or a place that stands for it
  void* original;  ///< for the initializer
  std::size_t bytes;
  void (*initialize)(void* copy, void* original);  ///< null: zeros
  void (*destroy)(void* copy);
  void (*combine)(void* into, void* from);
  std::uint32_t flags;
};

/// Makes copies for the current group of tasks. Returns the group.
void* begin_reduction(TeamThread& thread, std::size_t count, const ReductionItem* items);

/// Makes copies that all threads of the team share, each with a group of its own.
void* begin_team_reduction(TeamThread& thread, std::size_t count, const ReductionItem* items);

/// The calling thread's copy of a variable, or of the variable that a copy belongs to, in the
/// current group or in one around it.
[[nodiscard]] void* copy_of(const TeamThread& thread, const void* variable);

/// After the tasks of the group have finished: combines the copies if the caller is the last
/// thread that uses them.
void end_reduction(void* reduction);

}  // namespace sorrel::omp::kmpc
