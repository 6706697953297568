// __kmpc_*: tasks, taskloops, groups of tasks, events, reductions over tasks. The compiler
// allocates a task, fills it in, and then requests its execution.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "omp/kernel/perturb.hpp"
#include "omp/kmpc/interface.hpp"
#include "omp/kmpc/reduction.hpp"
#include "omp/region/program_call.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/depend.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/taskloop.hpp"
#include "omp/tasking/tool_events.hpp"

namespace {

using namespace sorrel::omp;
using namespace sorrel::omp::kmpc;

struct CompiledTask;
using Routine = std::int32_t (*)(std::int32_t global_number, CompiledTask* task);

/// The head of a task as the compiler knows it; its private variables follow.
struct CompiledTask {
  void* shareds;
  Routine routine;
  std::int32_t part;

  union Data {
    std::int32_t priority;
    Routine destructors;
  } first, second;
};

constexpr std::int32_t flag_tied = 1 << 0;
constexpr std::int32_t flag_final = 1 << 1;
constexpr std::int32_t flag_destructors = 1 << 3;
constexpr std::int32_t flag_proxy = 1 << 4;
constexpr std::int32_t flag_detachable = 1 << 6;

/// The event of a task with a detach clause, or the completion of a proxy task. It may be fulfilled
/// before the task has begun.
struct Event {
  static constexpr std::uintptr_t none = 0;
  static constexpr std::uintptr_t fulfilled = 1;
  /// One of these, or the task that has begun.
  std::atomic<std::uintptr_t> state{none};
  /// The task's body and the fulfilment: the last one frees the block.
  std::atomic<std::uint32_t> user_count{2};
};

/// Lies below the compiled task, in one block with its variables.
struct alignas(64) Header {
  std::uint32_t bytes;       ///< of the block
  std::uint32_t task_bytes;  ///< of the compiled task with its private variables
  std::int32_t flags;
  Task* included;  ///< between the two calls around a task that the caller runs itself
  bool has_begun;
  bool has_next_part;  ///< an untied task, which has begun, has requested itself again
  Event event;

  [[nodiscard]] CompiledTask& task() { return *reinterpret_cast<CompiledTask*>(this + 1); }

  [[nodiscard]] bool is_detachable() const { return (flags & (flag_detachable | flag_proxy)) != 0; }
};

Header& header_of(CompiledTask* task) {
  return *(reinterpret_cast<Header*>(task) - 1);
}

CompiledTask* new_task(std::int32_t flags,
                       std::size_t task_bytes,
                       std::size_t shared_bytes,
                       Routine routine) {
  constexpr std::size_t alignment = 16;
  task_bytes = (task_bytes + alignment - 1) / alignment * alignment;
  const std::size_t bytes = sizeof(Header) + task_bytes + shared_bytes;
  void* const block = this_thread().task_memory.take(bytes);
  auto& header = *new (block) Header{.bytes = static_cast<std::uint32_t>(bytes),
                                     .task_bytes = static_cast<std::uint32_t>(task_bytes),
                                     .flags = flags,
                                     .included = nullptr,
                                     .has_begun = false,
                                     .has_next_part = false,
                                     .event = {}};
  CompiledTask& task = header.task();
  task.shareds = shared_bytes == 0 ? nullptr : reinterpret_cast<std::byte*>(&task) + task_bytes;
  task.routine = routine;
  task.part = 0;
  return &task;
}

void free_block(Header& header) {
  const std::uint32_t bytes = header.bytes;
  this_thread().task_memory.give(&header, bytes);
}

/// A copy of a task that has not been begun.
CompiledTask* copy_of_task(CompiledTask* task) {
  Header& header = header_of(task);
  CompiledTask* const copy =
      new_task(header.flags, header.task_bytes, header.bytes - sizeof(Header) - header.task_bytes,
               task->routine);
  void* const shareds = copy->shareds;
  std::memcpy(static_cast<void*>(copy), task, header.bytes - sizeof(Header));
  copy->shareds = shareds != nullptr ? shareds : task->shareds;
  return copy;
}

/// The task has been run, or is not to be run.
void finish(Header& header) {
  CompiledTask& task = header.task();
  if ((header.flags & flag_destructors) != 0)
    (void)task.first.destructors(global_number(this_thread()), &task);
  // Acq_rel: the last user sees what the other did.
  if (!header.is_detachable() ||
      header.event.user_count.fetch_sub(1, std::memory_order_acq_rel) == 1)
    free_block(header);
}

/// A task without code only waits for what it depends on.
void run_part(Header& header) {
  const Routine routine = header.task().routine;
  if (routine != nullptr) (void)routine(global_number(this_thread()), &header.task());
}

/// The compiler cuts an untied task at its scheduling points. Each part but the last requests the
/// task again, and returns. Here the thread that has begun the task runs all its parts.
void run_further_parts(Header& header) {
  while (std::exchange(header.has_next_part, false))
    run_part(header);
}

/// The task that has begun has the event, which may be fulfilled already.
void connect_event(Header& header, Task& task) {
  TeamThread& thread = this_thread();
  perturb(thread.number, PerturbedPoint::arrive);
  // Acq_rel: the fulfilment's effects.
  const std::uintptr_t before = header.event.state.exchange(reinterpret_cast<std::uintptr_t>(&task),
                                                            std::memory_order_acq_rel);
  if (before == Event::fulfilled) fulfill(thread, task);
}

void run(void* data) {
  Header& header = **static_cast<Header**>(data);
  TeamThread& thread = this_thread();
  if (header.is_detachable()) connect_event(header, *thread.task);
  header.has_begun = true;
  if (!is_current_task_cancelled(thread)) {
    const TaskCall call(thread);
    run_part(header);
    run_further_parts(header);
  } else {
    thread.task->is_discarded = true;
  }
  finish(header);
}

struct DependInfo {
  void* address;
  std::size_t bytes;
  std::uint8_t flags;
};

constexpr std::uint8_t depend_in = 1;
constexpr std::uint8_t depend_mutexinoutset = 4;
constexpr std::uint8_t depend_inoutset = 8;
constexpr std::uint8_t depend_all = 0x80;

/// omp_all_memory: a flag, or an address that is none.
bool is_all_memory(const DependInfo& item) {
  constexpr auto no_address = ~std::uintptr_t{0};
  return (item.flags & depend_all) != 0 ||
         reinterpret_cast<std::uintptr_t>(item.address) == no_address;
}

DependenceKind kind_of(const DependInfo& item) {
  if (is_all_memory(item)) return DependenceKind::inout;
  if (item.flags == depend_in) return DependenceKind::in;
  if ((item.flags & depend_inoutset) != 0) return DependenceKind::inoutset;
  return (item.flags & depend_mutexinoutset) != 0 ? DependenceKind::mutexinoutset
                                                  : DependenceKind::inout;
}

/// A depend clause in one of the forms of the tasks (for_each_dependence()).
class Depend {
 public:
  Depend(std::int32_t count,
         const DependInfo* items,
         std::int32_t further_count,
         const DependInfo* further_items)
      : lists_{std::span(items, size_of(count)), std::span(further_items, size_of(further_count))} {
    const std::size_t total = lists_[0].size() + lists_[1].size();
    if (total == 0) return;
    constexpr std::size_t head_max = 5;
    if (total + head_max > few_.size()) {
      many_.resize(total + head_max);
      words_ = many_.data();
    }
    if (has_sets()) {
      add_sets(total);
    } else {
      // Count, count of writers, writers, readers.
      std::size_t at = 2;
      add(DependenceKind::inout, at);
      words_[1] = reinterpret_cast<void*>(at - 2);
      add(DependenceKind::in, at);
      words_[0] = reinterpret_cast<void*>(total);
    }
    is_empty_ = false;
  }

  /// Null if there are no dependences.
  [[nodiscard]] void** words() { return is_empty_ ? nullptr : words_; }

 private:
  static std::size_t size_of(std::int32_t count) {
    return static_cast<std::size_t>(std::max(count, 0));
  }

  [[nodiscard]] bool has_sets() const {
    const auto is_set = [](const DependInfo& item) {
      return (item.flags & (depend_mutexinoutset | depend_inoutset)) != 0;
    };
    return std::ranges::any_of(lists_[0], is_set) || std::ranges::any_of(lists_[1], is_set);
  }

  /// 0, count, counts of writers, mutexinoutset items and readers; then all items, those of
  /// inoutset as depend objects.
  void add_sets(std::size_t total) {
    objects_.reserve(total);
    words_[0] = nullptr;
    words_[1] = reinterpret_cast<void*>(total);
    std::size_t at = 5;
    std::size_t head = 2;
    for (const auto kind :
         {DependenceKind::inout, DependenceKind::mutexinoutset, DependenceKind::in}) {
      const std::size_t before = at;
      add(kind, at);
      words_[head++] = reinterpret_cast<void*>(at - before);
    }
    add(DependenceKind::inoutset, at);
  }

  void add(DependenceKind kind, std::size_t& at) {
    for (const auto& list : lists_) {
      for (const DependInfo& item : list) {
        if (kind_of(item) != kind) continue;
        void* address = is_all_memory(item) ? nullptr : item.address;
        if (kind == DependenceKind::inoutset)
          address = &objects_.emplace_back(
              std::array{address, reinterpret_cast<void*>(static_cast<std::uintptr_t>(kind))});
        words_[at++] = address;
      }
    }
  }

  std::array<std::span<const DependInfo>, 2> lists_;
  std::array<void*, 18> few_{};
  std::vector<void*> many_;
  std::vector<std::array<void*, 2>> objects_;
  void** words_ = few_.data();
  bool is_empty_ = true;
};

std::int32_t make(CompiledTask* task, void** depend, bool is_deferrable) {
  Header* header = &header_of(task);
  Task* unused = nullptr;
  std::uint32_t flags = 0;
  if ((header->flags & flag_final) != 0) flags |= task_final;
  if ((header->flags & flag_tied) == 0) flags |= task_untied;
  if (depend != nullptr) flags |= task_depend;
  if (header->is_detachable()) flags |= task_detach;
  const bool is_made =
      make_task(this_thread(),
                {.body = run,
                 .data = static_cast<void*>(&header),
                 .bytes = sizeof(Header*),
                 .alignment = alignof(Header*),
                 .is_deferrable = is_deferrable,
                 .flags = flags,
                 .depend = depend,
                 .detach = header->is_detachable() ? reinterpret_cast<void**>(&unused) : nullptr,
                 .must_run_body = true,
                 .keeps_data = true});
  if (!is_made) finish(*header);
  return 0;
}

/// A new task, or the next part of one that has begun.
std::int32_t request(CompiledTask* task) {
  Header& header = header_of(task);
  if (!header.has_begun) return make(task, nullptr, true);
  header.has_next_part = true;
  return 0;
}

/// Numbers of a taskloop's schedule.
Grain grain_of(std::int32_t schedule, std::int32_t is_strict) {
  constexpr std::int32_t by_grain = 1;
  if (schedule != by_grain) return Grain::task_count;
  return is_strict != 0 ? Grain::exact : Grain::least;
}

struct Taskloop {
  CompiledTask* pattern;
  std::uint64_t* lower;  ///< in the pattern, with the loop's bounds, both included
  std::uint64_t* upper;
  std::int64_t step;
  void* duplicate;  ///< Duplicate, or null
  bool is_deferrable;
  bool has_group;
  Grain grain;
  std::uint64_t number;  ///< of tasks, or of iterations of a task; 0: none is given
};

using Duplicate = void (*)(CompiledTask* copy, CompiledTask* pattern, std::int32_t is_last);

std::uint64_t trips(const Taskloop& loop) {
  // Bounds that exclude each other: no iteration.
  const auto distance = loop.step > 0 ? *loop.upper - *loop.lower : *loop.lower - *loop.upper;
  if (static_cast<std::int64_t>(distance) < 0) return 0;
  const auto step = static_cast<std::uint64_t>(loop.step);
  return distance / (loop.step > 0 ? step : 0 - step) + 1;
}

void run_taskloop(const Taskloop& loop, const TaskloopCut& cut, std::uint64_t trip_count) {
  const auto offset_of = [&](const std::uint64_t* field) {
    return reinterpret_cast<const std::byte*>(field) -
           reinterpret_cast<const std::byte*>(loop.pattern);
  };
  const auto set = [&](CompiledTask* copy, const std::uint64_t* field, std::uint64_t value) {
    std::memcpy(reinterpret_cast<std::byte*>(copy) + offset_of(field), &value, sizeof value);
  };
  const auto duplicate = reinterpret_cast<Duplicate>(loop.duplicate);
  const std::uint64_t first = *loop.lower;
  const std::uint64_t last = *loop.upper;
  const auto step = static_cast<std::uint64_t>(loop.step);
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < cut.task_count; ++i) {
    const std::uint64_t size =
        std::min(cut.size + (i < cut.larger_count ? 1 : 0), trip_count - begin);
    const std::uint64_t end = begin + size;
    const bool is_last = i + 1 == cut.task_count;
    CompiledTask* const copy = copy_of_task(loop.pattern);
    set(copy, loop.lower, first + begin * step);
    set(copy, loop.upper, is_last ? last : first + (end - 1) * step);
    if (duplicate != nullptr) duplicate(copy, loop.pattern, is_last ? 1 : 0);
    if (has_tool()) [[unlikely]]
      this_thread().tool_chunk = {first + begin * step, size};
    (void)make(copy, nullptr, loop.is_deferrable);
    begin = end;
  }
  this_thread().tool_chunk = {};
}

void taskloop(const Taskloop& loop) {
  if (loop.has_group) begin_taskgroup(this_thread());
  const std::uint64_t trip_count = trips(loop);
  const TaskloopCut cut =
      cut_taskloop(trip_count, loop.number, loop.grain, this_thread().team->size);
  if (has_tool()) [[unlikely]]
    tell_work(this_thread(), ompt::Work::taskloop, ompt::Endpoint::begin, trip_count);
  run_taskloop(loop, cut, trip_count);
  if (has_tool()) [[unlikely]]
    tell_work(this_thread(), ompt::Work::taskloop, ompt::Endpoint::end, trip_count);
  finish(header_of(loop.pattern));
  if (loop.has_group) end_taskgroup(this_thread());
}

/// The list of compilers before OpenMP 5.0, without originals.
struct OldReductionItem {
  void* shared;
  std::size_t bytes;
  void* initialize;
  void* destroy;
  void* combine;
  std::uint32_t flags;
};

std::vector<ReductionItem> items_of(std::int32_t count, const OldReductionItem* items) {
  std::vector<ReductionItem> list;
  for (std::int32_t i = 0; i < count; ++i) {
    const OldReductionItem& old = items[i];
    // An initializer of one argument does not notice the second one.
    list.push_back({.shared = old.shared,
                    .original = old.shared,
                    .bytes = old.bytes,
                    .initialize = reinterpret_cast<void (*)(void*, void*)>(old.initialize),
                    .destroy = reinterpret_cast<void (*)(void*)>(old.destroy),
                    .combine = reinterpret_cast<void (*)(void*, void*)>(old.combine),
                    .flags = old.flags});
  }
  return list;
}

std::uint64_t number_of(const Task* task) {
  return reinterpret_cast<std::uintptr_t>(task);
}

}  // namespace

SORREL_KMPC CompiledTask* __kmpc_omp_task_alloc(Ident*,
                                                std::int32_t,
                                                std::int32_t flags,
                                                std::size_t task_bytes,
                                                std::size_t shared_bytes,
                                                Routine routine) {
  return new_task(flags, task_bytes, shared_bytes, routine);
}

SORREL_KMPC CompiledTask* __kmpc_omp_target_task_alloc(Ident*,
                                                       std::int32_t,
                                                       std::int32_t flags,
                                                       std::size_t task_bytes,
                                                       std::size_t shared_bytes,
                                                       Routine routine,
                                                       std::int64_t) {
  return new_task(flags, task_bytes, shared_bytes, routine);
}

SORREL_KMPC std::int32_t __kmpc_omp_task(Ident*, std::int32_t, CompiledTask* task) {
  const ProgramCall call;
  return request(task);
}

SORREL_KMPC std::int32_t __kmpc_omp_task_parts(Ident*, std::int32_t, CompiledTask* task) {
  const ProgramCall call;
  return request(task);
}

SORREL_KMPC std::int32_t __kmpc_omp_task_with_deps(Ident*,
                                                   std::int32_t,
                                                   CompiledTask* task,
                                                   std::int32_t count,
                                                   const DependInfo* items,
                                                   std::int32_t further_count,
                                                   const DependInfo* further_items) {
  const ProgramCall call;
  Depend depend(count, items, further_count, further_items);
  return make(task, depend.words(), true);
}

SORREL_KMPC void __kmpc_omp_wait_deps(Ident*,
                                      std::int32_t,
                                      std::int32_t count,
                                      const DependInfo* items,
                                      std::int32_t further_count,
                                      const DependInfo* further_items) {
  const ProgramCall call;
  Depend depend(count, items, further_count, further_items);
  if (depend.words() != nullptr) wait_for_children(this_thread(), depend.words());
}

SORREL_KMPC void __kmpc_omp_taskwait_deps_51(Ident*,
                                             std::int32_t,
                                             std::int32_t count,
                                             const DependInfo* items,
                                             std::int32_t further_count,
                                             const DependInfo* further_items,
                                             std::int32_t has_nowait) {
  const ProgramCall call;
  Depend depend(count, items, further_count, further_items);
  if (depend.words() == nullptr) return;
  if (has_nowait != 0) {
    (void)make_task(this_thread(),
                    {.body = [](void*) {}, .flags = task_depend, .depend = depend.words()});
  } else {
    wait_for_children(this_thread(), depend.words());
  }
}

SORREL_KMPC void __kmpc_omp_task_begin_if0(Ident*, std::int32_t, CompiledTask* task) {
  const ProgramCall call;
  Header& header = header_of(task);
  header.has_begun = true;
  std::uint32_t flags = (header.flags & flag_final) != 0 ? task_final : 0;
  if (header.is_detachable()) flags |= task_detach;
  header.included = &begin_included_task(this_thread(), flags);
  if (header.is_detachable()) connect_event(header, *header.included);
  if (has_tool()) [[unlikely]]
    tell_called_by_program(this_thread(), __builtin_dwarf_cfa());
}

SORREL_KMPC void __kmpc_omp_task_complete_if0(Ident*, std::int32_t, CompiledTask* task) {
  const ProgramCall call;
  Header& header = header_of(task);
  Task* const included = header.included;
  run_further_parts(header);
  finish(header);
  end_included_task(this_thread(), *included);
}

SORREL_KMPC std::int32_t __kmpc_omp_taskwait(Ident*, std::int32_t) {
  const ProgramCall call;
  wait_for_children(this_thread());
  return 0;
}

SORREL_KMPC std::int32_t __kmpc_omp_taskyield(Ident*, std::int32_t, int) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  if (thread.team->size > 1) yield(thread);
  return 0;
}

SORREL_KMPC void __kmpc_taskgroup(Ident*, std::int32_t) {
  const ProgramCall call;
  begin_taskgroup(this_thread());
}

SORREL_KMPC void __kmpc_end_taskgroup(Ident*, std::int32_t) {
  const ProgramCall call;
  void* const reduction = end_taskgroup(this_thread());
  end_reduction(reduction);
}

// Compilers since OpenMP 5.1 pass one argument more.
#define SORREL_TASKLOOP(name, is_strict, ...)                                                 \
  SORREL_KMPC void name(Ident*, std::int32_t, CompiledTask* task, std::int32_t is_deferrable, \
                        std::uint64_t* lower, std::uint64_t* upper, std::int64_t step,        \
                        std::int32_t has_no_group, std::int32_t schedule,                     \
                        std::uint64_t number __VA_OPT__(, ) __VA_ARGS__, void* duplicate) {   \
    const ProgramCall call;                                                                   \
    taskloop({.pattern = task,                                                                \
              .lower = lower,                                                                 \
              .upper = upper,                                                                 \
              .step = step,                                                                   \
              .duplicate = duplicate,                                                         \
              .is_deferrable = is_deferrable != 0,                                            \
              .has_group = has_no_group == 0,                                                 \
              .grain = grain_of(schedule, is_strict),                                         \
              .number = schedule == 0 ? 0 : number});                                         \
  }

SORREL_TASKLOOP(__kmpc_taskloop, 0)
SORREL_TASKLOOP(__kmpc_taskloop_5, is_strict, std::int32_t is_strict)

// Affinity is a hint.
SORREL_KMPC std::int32_t __kmpc_omp_reg_task_with_affinity(
    Ident*, std::int32_t, CompiledTask*, std::int32_t, void*) {
  return 0;
}

SORREL_KMPC void* __kmpc_task_allow_completion_event(Ident*, std::int32_t, CompiledTask* task) {
  return &header_of(task).event;
}

/// omp_fulfill_event() of programs for LLVM's library.
extern "C" __attribute__((visibility("hidden"))) void sorrel_kmpc_fulfill_event(Event* event) {
  const ProgramCall call;
  // Acq_rel: publishes what the caller did before.
  const std::uintptr_t before = event->state.exchange(Event::fulfilled, std::memory_order_acq_rel);
  perturb(this_thread().number, PerturbedPoint::release);
  if (before != Event::none) fulfill(this_thread(), *reinterpret_cast<Task*>(before));
  if (event->user_count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  auto* const at = reinterpret_cast<std::byte*>(event) - offsetof(Header, event);
  free_block(*reinterpret_cast<Header*>(at));
}

// By a thread of the task's team, or by any thread.
SORREL_KMPC void __kmpc_proxy_task_completed(std::int32_t, CompiledTask* task) {
  sorrel_kmpc_fulfill_event(&header_of(task).event);
}

SORREL_KMPC void __kmpc_proxy_task_completed_ooo(CompiledTask* task) {
  sorrel_kmpc_fulfill_event(&header_of(task).event);
}

SORREL_KMPC std::uint64_t __kmpc_get_taskid() {
  return number_of(this_thread().task);
}

// 0: it has none. The parent of an implicit task is the task that met the region.
SORREL_KMPC std::uint64_t __kmpc_get_parent_taskid() {
  const TeamThread& thread = this_thread();
  if (thread.task->level != 0) return number_of(thread.task->parent);
  return thread.team->level == 0 ? 0 : number_of(thread.team->outer_state.task);
}

SORREL_KMPC void* __kmpc_taskred_init(std::int32_t,
                                      std::int32_t count,
                                      const ReductionItem* items) {
  return begin_reduction(this_thread(), static_cast<std::size_t>(count), items);
}

SORREL_KMPC void* __kmpc_task_reduction_init(std::int32_t,
                                             std::int32_t count,
                                             const OldReductionItem* items) {
  const std::vector<ReductionItem> list = items_of(count, items);
  return begin_reduction(this_thread(), list.size(), list.data());
}

SORREL_KMPC void* __kmpc_task_reduction_modifier_init(
    Ident*, std::int32_t, std::int32_t, std::int32_t count, const OldReductionItem* items) {
  const std::vector<ReductionItem> list = items_of(count, items);
  return begin_team_reduction(this_thread(), list.size(), list.data());
}

SORREL_KMPC void* __kmpc_taskred_modifier_init(
    Ident*, std::int32_t, std::int32_t, std::int32_t count, const ReductionItem* items) {
  return begin_team_reduction(this_thread(), static_cast<std::size_t>(count), items);
}

SORREL_KMPC void __kmpc_task_reduction_modifier_fini(Ident*, std::int32_t, std::int32_t) {
  void* const reduction = end_taskgroup(this_thread());
  end_reduction(reduction);
}

SORREL_KMPC void* __kmpc_task_reduction_get_th_data(std::int32_t, void*, void* variable) {
  return copy_of(this_thread(), variable);
}
