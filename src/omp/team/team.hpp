//! Team - the threads of one parallel region, and what they share: barriers, work-sharing
//! constructs, explicit tasks, cancellation.
//!
//! A team is kept by its master and reused for the next region of the same size. Its memory is
//! never freed, because the thread that opens a barrier may still read it a moment after the other
//! members have left. Data only: region.hpp opens and closes regions, task.hpp has their tasks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "omp/icv/icv.hpp"
#include "omp/icv/places.hpp"
#include "omp/kernel/task_flag.hpp"
#include "omp/team/barrier.hpp"
#include "omp/team/team_state.hpp"
#include "omp/team/work_share.hpp"
#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

struct Group;
struct TaskGroup;
struct TeamThread;
struct ToolTask;

/// The numbers are GOMP's.
enum Cancelled : std::uint32_t {
  cancelled_parallel = 1,
  cancelled_loop = 2,
  cancelled_sections = 4,
  cancelled_taskgroup = 8
};

/// A list of the num_threads clause: the numbers of threads of nested regions.
struct ThreadList {
  std::shared_ptr<const std::vector<std::uint32_t>> counts;
  std::size_t at = 0;  ///< the number for regions directly inside; further ones follow
};

struct alignas(cache_line_bytes) Team {
  // Constant in a region. Only the first line changes from one region to the next.
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  std::uint64_t share_base = 0;
  std::uint64_t single_base = 0;
  TaskGroup* region_taskgroup = nullptr;  ///< of reductions over the whole region
  Icv icv;
  std::uint32_t size = 1;
  std::uint32_t level = 0;
  std::uint32_t active_level = 0;
  bool is_outermost = false;  ///< its threads are published as bits
  bool has_loop = false;      ///< all its threads begin in the loop
  /// Its threads are bound, or display their affinity, as they begin.
  bool has_affinity = false;
  bool displays_affinity = false;
  bool has_thread_list = false;
  Bind bind = Bind::none;  ///< bind-var of its threads, if it is bound
  /// The league that the region belongs to, as inherited from its parent, and its team's number.
  std::uint32_t league_size = 1;
  std::uint32_t league_number = 0;
  std::uintptr_t allocator = 1;  ///< def-allocator-var of its threads
  Group* group = nullptr;
  TeamThread* master = nullptr;
  Team* parent = nullptr;
  Thread* const* members = nullptr;
  Task* implicit_tasks = nullptr;        ///< one for each member
  MemberState* member_states = nullptr;  ///< one for each member
  MemberPlace* places = nullptr;         ///< one for each member of a team that is bound
  // Private to the master.
  alignas(cache_line_bytes) TeamState outer_state;  ///< before it became master

  Barrier inner;
  Barrier last;
  WorkShares shares;

  // Any thread.
  alignas(cache_line_bytes) void* copyprivate = nullptr;
  std::atomic<bool> is_region_cancelled{false};
  /// The loop or sections cancelled last: generation of the barrier after them, Cancelled bits.
  std::atomic<std::uint64_t> cancelled_construct{0};
  TaskFlag task_flag;
  WaitList task_waiters;
  /// Whether any explicit task was made in this region.
  std::atomic<bool> has_tasks{false};
  /// Tasks that were finished by threads of other teams.
  std::atomic<std::uint64_t> finished_elsewhere{0};
  Team* next = nullptr;    ///< in the master's list
  ThreadList thread_list;  ///< if has_thread_list
  // For a tool that observes the process.
  ompt::Data tool_data{};
  const void* tool_code = nullptr;  ///< where the region's call returns
  ToolTask* tool_tasks = nullptr;   ///< one for each member

  [[nodiscard]] bool is_cancelled() const {
    // Relaxed: a request that may take effect later; nothing is read through it.
    return is_region_cancelled.load(std::memory_order_relaxed);
  }

  /// For a thread that would sleep until the region is cancelled.
  [[nodiscard]] bool is_cancelled_for_waiter() const {
    return is_region_cancelled.load(waiter_order);
  }

  /// Requests to cancel the loop or sections that the caller is in. The request ends when the
  /// barrier after the construct opens: only constructs with such a barrier can be cancelled.
  void cancel_construct(std::uint32_t what) {
    // Relaxed, as in is_cancelled().
    cancelled_construct.store(std::uint64_t{inner.generation()} << 32 | what,
                              std::memory_order_relaxed);
  }

  /// Whether the caller's current loop or sections construct is cancelled.
  [[nodiscard]] bool is_construct_cancelled(std::uint32_t what) const {
    const std::uint64_t word = cancelled_construct.load(std::memory_order_relaxed);
    return (word & what) != 0 && word >> 32 == inner.generation();
  }

  /// Before the first region.
  void set_size(std::uint32_t thread_count) {
    size = thread_count;
    inner.set_size(thread_count);
    last.set_size(thread_count);
  }

  /// Between two regions: no thread is inside. Only the master may call it.
  void check_invariants() const {
    SORREL_CHECK(size >= 1 && size <= thread_count_max);
    SORREL_CHECK(is_cancelled() || inner.seems_empty(), "a thread is in a barrier");
    SORREL_CHECK(last.seems_empty(), "a thread is at the region's end");
    if (!is_cancelled()) shares.check_invariants();
  }

  /// For a team of one, whose barriers open without a new generation.
  void forget_cancelled_construct() {
    if (cancelled_construct.load(std::memory_order_relaxed) != 0)
      cancelled_construct.store(0, std::memory_order_relaxed);
  }
};

}  // namespace sorrel::omp
