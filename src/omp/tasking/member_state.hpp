//! MemberState - what a thread has in its team: its queue of tasks, and its chunks of dynamic
//! loops.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "omp/kernel/batch.hpp"
#include "omp/tasking/task_queue.hpp"

namespace sorrel::omp {

/// The state of a member in its team: queued tasks, counts of tasks made and finished, which only
/// the member writes, and its chunks of a dynamic loop. Data that other threads read shares no line
/// with private data.
struct alignas(cache_line_bytes) MemberState {
  TaskQueue queue;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> finished{0};
  alignas(cache_line_bytes) Batch batch;
  // Private: the batch size of loop number tuned_loop, whose counter was last seen at chunks_begun.
  // It is kept for the next loop if that has the same shape.
  alignas(cache_line_bytes) BatchTuner batch_tuner;
  std::uint64_t tuned_loop = 0;
  std::uint64_t tuned_count = 0;
  std::uint64_t tuned_stride = 0;
  std::uint64_t chunks_begun = 0;

  /// Between two regions of the team.
  void check_invariants() const {
    queue.check_invariants();
    SORREL_CHECK(queue.seems() == 0, "%u tasks were not run", queue.seems());
  }

  void forget_loops() {
    batch.forget();
    tuned_loop = 0;
  }
};

}  // namespace sorrel::omp
