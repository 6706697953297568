//! Loops and sections: how a thread opens one, gets chunks, keeps their order and leaves.
//!
//! Called by the entry points on an OpenMP thread. May suspend, except next_chunk() of a loop that
//! is not ordered.
#pragma once

#include <cstdint>
#include <functional>

#include "omp/chunk.hpp"
#include "omp/thread.hpp"
#include "omp/work_share.hpp"

namespace sorrel::omp {

/// Parts of a loop construct besides its iterations.
struct LoopExtras {
  std::uintptr_t* reductions = nullptr;
  void** memory = nullptr;  ///< in: bytes; out: the construct's memory
};

/// `prepare` runs on the first thread that meets the loop.
void begin_loop(Thread& thread,
                const LoopShape& shape,
                const LoopExtras& extras = {},
                const std::function<void(WorkShare&)>& prepare = {});

/// The same for a doacross loop; count_of(i): extent of dimension i.
template <class CountOf>
void begin_doacross(Thread& thread,
                    const LoopShape& shape,
                    const LoopExtras& extras,
                    unsigned dimension_count,
                    CountOf count_of) {
  begin_loop(thread, shape, extras, [&](WorkShare& share) {
    share.dimension_count = dimension_count;
    auto* counts = new std::uint64_t[dimension_count];
    for (unsigned i = 0; i < dimension_count; ++i)
      counts[i] = count_of(i);
    share.counts = counts;
    share.posted = new std::atomic<std::uint64_t>[counts[0]]();
  });
}

/// The next chunk of the thread's loop; false if there is none.
bool next_chunk(Thread& thread, Chunk& chunk);

/// The number of the next chunk in a loop whose share has a chunk_count, called when the thread's
/// batch is used up; false if there is none.
bool next_batch(Thread& thread, WorkShare& share, std::uint64_t& chunk);

/// Applies run-sched-var to the loop.
void apply_run_schedule(const Thread& thread, LoopShape& shape);

/// Waits for the turn of the chunk that the thread holds.
void wait_for_turn(Thread& thread);

/// The thread has run all its chunks. `waits`: for the other threads of the team.
void end_loop(Thread& thread, bool waits);

/// The first and the end value of the program's variable in a chunk.
struct Bounds {
  std::uint64_t first;
  std::uint64_t end;
};

[[nodiscard]] Bounds bounds_of(const LoopShape& loop, const Chunk& chunk);

}  // namespace sorrel::omp
