//! Loops and sections: how a thread opens one, gets chunks, keeps their order and leaves.
//!
//! Called by the entry points on an OpenMP thread. May suspend, except next_chunk() of a loop that
//! is not ordered.
#pragma once

#include <cstdint>
#include <functional>

#include "omp/team/team_thread.hpp"
#include "omp/team/work_share.hpp"
#include "omp/worksharing/chunk.hpp"

namespace sorrel::omp {

/// Parts of a loop construct besides its iterations.
struct LoopExtras {
  std::uintptr_t* reductions = nullptr;
  void** memory = nullptr;  ///< in: bytes; out: the construct's memory
};

/// `prepare` runs on the first thread that meets the loop.
void begin_loop(TeamThread& thread,
                const LoopShape& shape,
                const LoopExtras& extras = {},
                const std::function<void(WorkShare&)>& prepare = {});

/// The next chunk of the thread's loop; false if there is none.
bool next_chunk(TeamThread& thread, Chunk& chunk);

/// The number of the next chunk in a loop whose share has a chunk_count, called when the thread's
/// batch is used up; false if there is none.
bool next_batch(TeamThread& thread, WorkShare& share, std::uint64_t& chunk);

/// Applies run-sched-var to the loop.
void apply_run_schedule(const TeamThread& thread, LoopShape& shape);

/// Applies a schedule that the compiler passes as a number: a Schedule, or 0 for run-sched-var; bit
/// 31: monotonic.
void apply_schedule(const TeamThread& thread, long schedule, LoopShape& shape);

/// Waits for the turn of the chunk that the thread holds.
void wait_for_turn(TeamThread& thread);

/// The ordered construct: waits for the turn, and tells a tool.
void begin_ordered(TeamThread& thread);
void end_ordered(TeamThread& thread);

/// The thread has `chunk` of its loop, and a tool observes the process.
void tell_chunk(const TeamThread& thread, const Chunk& chunk);

/// The thread has run all its chunks.
void end_loop(TeamThread& thread);

/// The first and the end value of the program's variable in a chunk.
struct Bounds {
  std::uint64_t first;
  std::uint64_t end;
};

[[nodiscard]] Bounds bounds_of(const LoopShape& loop, const Chunk& chunk);

}  // namespace sorrel::omp
