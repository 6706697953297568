#include "omp/kmpc/reduction.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/tasking/task.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/team/task_memory.hpp"
#include "omp/team/team.hpp"
#include "omp/tool/tool.hpp"
#include "omp/worksharing/loop.hpp"

namespace sorrel::omp::kmpc {

namespace {

struct Variable {
  ReductionItem item;
  std::size_t stride;
  std::byte* copies;

  [[nodiscard]] std::byte* copy(std::uint32_t number) const { return copies + number * stride; }

  [[nodiscard]] bool has(const void* address, std::uint32_t thread_count) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= copies && at < copies + thread_count * stride;
  }
};

struct Reduction {
  std::uint32_t thread_count;
  std::atomic<std::uint32_t> user_count;
  std::vector<Variable> variables;
};

/// A reduction as one group of tasks has it: in a reduction of a team, the variables are private to
/// each thread, and the copies are the team's.
struct View {
  Reduction* reduction;
  std::vector<void*> shared;
};

View* view_of(Reduction* reduction, std::size_t count, const ReductionItem* items) {
  auto* const view = new View{reduction, {}};
  for (std::size_t i = 0; i < count; ++i)
    view->shared.push_back(items[i].shared);
  return view;
}

Reduction* make(std::uint32_t thread_count,
                std::uint32_t user_count,
                std::size_t count,
                const ReductionItem* items) {
  auto* const made = new Reduction{thread_count, {user_count}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const ReductionItem& item = items[i];
    const std::size_t stride =
        (item.bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    auto* const copies =
        static_cast<std::byte*>(aligned_memory(cache_line_bytes, stride * thread_count));
    std::memset(copies, 0, stride * thread_count);
    const Variable variable{item, stride, copies};
    for (std::uint32_t number = 0; item.initialize != nullptr && number < thread_count; ++number)
      item.initialize(variable.copy(number), item.original);
    made->variables.push_back(variable);
  }
  return made;
}

}  // namespace

void* begin_reduction(TeamThread& thread, std::size_t count, const ReductionItem* items) {
  TaskGroup* const group = thread.task->taskgroup;
  SORREL_CHECK(group != nullptr, "a task reduction outside of a group of tasks");
  group->llvm_reduction = view_of(make(thread.team->size, 1, count, items), count, items);
  return group;
}

void* begin_team_reduction(TeamThread& thread, std::size_t count, const ReductionItem* items) {
  begin_taskgroup(thread);
  TaskGroup* const group = thread.task->taskgroup;
  group->is_of_construct = true;
  const std::uint32_t size = thread.team->size;
  // The construct's memory holds a pointer to what its first thread makes.
  void* memory = reinterpret_cast<void*>(sizeof(Reduction*));
  const LoopExtras extras{.memory = &memory};
  if (has_tool()) [[unlikely]]
    thread.tool_work = ompt::Work::none;
  begin_loop(thread, {}, extras, [&](WorkShare& share) {
    *static_cast<Reduction**>(share.memory) = make(size, size, count, items);
  });
  group->llvm_reduction = view_of(*static_cast<Reduction**>(memory), count, items);
  end_loop(thread);
  return group;
}

void* copy_of(const TeamThread& thread, const void* variable) {
  for (const TaskGroup* group = thread.task->taskgroup; group != nullptr; group = group->outer) {
    const auto* const view = static_cast<const View*>(group->llvm_reduction);
    if (view == nullptr) continue;
    const Reduction& reduction = *view->reduction;
    for (std::size_t i = 0; i < reduction.variables.size(); ++i) {
      const Variable& candidate = reduction.variables[i];
      if (view->shared[i] == variable || candidate.has(variable, reduction.thread_count))
        return candidate.copy(thread.number);
    }
  }
  SORREL_CHECK(false, "no task_reduction for a variable of in_reduction");
  return nullptr;
}

void end_reduction(void* reduction) {
  const std::unique_ptr<View> view(static_cast<View*>(reduction));
  if (view == nullptr) return;
  perturb(0, PerturbedPoint::report);
  // Acq_rel: the last thread has seen what all others did.
  if (view->reduction->user_count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::unique_ptr<Reduction> ended(view->reduction);
  for (std::size_t i = 0; i < ended->variables.size(); ++i) {
    const Variable& variable = ended->variables[i];
    for (std::uint32_t number = 0; number < ended->thread_count; ++number) {
      variable.item.combine(view->shared[i], variable.copy(number));
      if (variable.item.destroy != nullptr) variable.item.destroy(variable.copy(number));
    }
    std::free(variable.copies);
  }
}

}  // namespace sorrel::omp::kmpc
