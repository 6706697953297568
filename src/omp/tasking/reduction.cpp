#include "omp/tasking/reduction.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "omp/tasking/task.hpp"
#include "omp/team/task_memory.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

namespace {

enum Word : std::size_t {
  variable_count = 0,
  bytes_each = 1,
  memory = 2,
  next_array = 4,
  is_head = 5,
  memory_end = 6,
  variables = 7
};

std::uintptr_t* array_at(std::uintptr_t word) {
  return reinterpret_cast<std::uintptr_t*>(word);
}

}  // namespace

void register_reductions(std::uintptr_t* data,
                         const std::uintptr_t* first,
                         std::uint32_t thread_count) {
  for (std::uintptr_t* array = data; array != nullptr; array = array_at(array[next_array])) {
    array[is_head] = array == data ? 1 : 0;
    if (first != nullptr) {
      array[memory] = first[memory];
      array[memory_end] = first[memory_end];
      // After its last array the first thread links those of outer groups (add_reductions()).
      if (array[next_array] != 0) first = array_at(first[next_array]);
      continue;
    }
    const std::size_t alignment = std::max<std::size_t>(array[memory], sizeof(void*));
    const std::size_t bytes = array[bytes_each] * thread_count;
    void* copies = aligned_memory(alignment, bytes);
    std::memset(copies, 0, bytes);
    array[memory] = reinterpret_cast<std::uintptr_t>(copies);
    array[memory_end] = array[memory] + bytes;
  }
}

void add_reductions(TeamThread& thread, std::uintptr_t* data) {
  TaskGroup& group = *thread.task->taskgroup;
  std::uintptr_t* outer = group.reductions;
  if (outer == nullptr && group.outer != nullptr) outer = group.outer->reductions;
  std::uintptr_t* last = data;
  while (last[next_array] != 0)
    last = array_at(last[next_array]);
  last[next_array] = reinterpret_cast<std::uintptr_t>(outer);
  group.reductions = data;
}

void unregister_reductions(std::uintptr_t* data) {
  std::uintptr_t* array = data;
  do {
    std::free(array_at(array[memory]));
    array = array_at(array[next_array]);
  } while (array != nullptr && array[is_head] == 0);
}

namespace {

/// A variable of an array of reductions, as the compiler describes it.
struct ReducedVariable {
  std::uintptr_t* array;
  std::uintptr_t original;
  /// In each thread's copies.
  std::uintptr_t offset;
};

/// Finds the variable that `wanted` is, or is a thread's copy of, in the arrays from `array` on.
std::optional<ReducedVariable> find_reduced(std::uintptr_t* array, std::uintptr_t wanted) {
  for (; array != nullptr; array = array_at(array[next_array])) {
    const bool is_copy = wanted >= array[memory] && wanted < array[memory_end];
    const std::uintptr_t offset = is_copy ? (wanted - array[memory]) % array[bytes_each] : 0;
    for (std::size_t i = 0; i < array[variable_count]; ++i) {
      const std::uintptr_t* variable = array + variables + 3 * i;
      if (is_copy ? variable[1] == offset : variable[0] == wanted)
        return ReducedVariable{array, variable[0], variable[1]};
    }
  }
  return std::nullopt;
}

}  // namespace

void remap_reductions(const TeamThread& thread,
                      std::size_t count,
                      std::size_t original_count,
                      void** pointers) {
  const TaskGroup* group = thread.task->taskgroup;
  while (group != nullptr && group->reductions == nullptr)
    group = group->outer;
  SORREL_CHECK(group != nullptr, "in_reduction without a task_reduction around it");
  for (std::size_t i = 0; i < count; ++i) {
    const auto found =
        find_reduced(group->reductions, reinterpret_cast<std::uintptr_t>(pointers[i]));
    SORREL_CHECK(found, "no task_reduction for a variable of in_reduction");
    pointers[i] = reinterpret_cast<void*>(found->array[memory] +
                                          thread.number * found->array[bytes_each] + found->offset);
    if (i < original_count) pointers[count + i] = reinterpret_cast<void*>(found->original);
  }
}

}  // namespace sorrel::omp
