//! WorkShare - one loop, sections or other construct that a team divides among its threads.
//!
//! The threads of a team reach the same constructs in the same order, so construct number q of a
//! region is in slot q mod slot_count. A thread may be that many constructs ahead of the slowest
//! thread; then it waits. The first thread opens the slot (T), fills it and publishes it (P); the
//! last to leave frees it. Iterations are counted from 0: `next` is the first one that is not
//! taken. Ordering labels: (T) turn, (P) published.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "omp/icv/icv.hpp"
#include "omp/sched/wait_list.hpp"
#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

struct TeamThread;

/// A loop as the compiler describes it, counted from 0.
struct LoopShape {
  std::uint64_t start = 0;  ///< of the program's variable, modulo 2^64
  std::uint64_t end = 0;
  std::uint64_t step = 1;
  std::uint64_t trip_count = 0;
  std::uint64_t chunk = 1;
  Schedule schedule = Schedule::dynamic;
  bool is_ordered = false;
  bool is_monotonic = true;    ///< a thread's chunks come in the order of their iterations
  bool has_multiples = false;  ///< guided: sizes are multiples of the chunk
};

/// Most loops need two lines only: the loop, and what changes while it runs. Each costs every
/// thread one fetch per loop. Rarely used fields are not written, either.
class WorkShare {
 public:
  // Written by the thread that opens the construct.
  alignas(cache_line_bytes) LoopShape loop;
  /// Not 0: a dynamic loop of so many chunks, taken in batches; `next` counts chunks.
  std::uint64_t chunk_count = 0;
  std::uint64_t stride = 0;  ///< of such a loop, from chunk to chunk, of the program's variable

  // Written by the thread that opens the construct. Most constructs use none of these.
  alignas(cache_line_bytes) std::uintptr_t* reductions = nullptr;
  void* memory = nullptr;                        ///< zeroed, for the construct's threads
  std::atomic<std::uint64_t>* posted = nullptr;  ///< of a doacross loop: see doacross.cpp
  const std::uint64_t* counts = nullptr;         ///< its extents
  std::uint32_t dimension_count = 0;
  ompt::Work tool_work = ompt::Work::loop;  ///< what a tool receives

  /// In an ordered loop: the iteration whose turn it is. (N) the thread that passes it on; waiters.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> ordered_next{0};
  WaitList waiters;

  alignas(cache_line_bytes) std::atomic<std::uint64_t> next{0};
  static constexpr std::uint32_t no_owner = ~0U;
  static constexpr std::uint32_t several = no_owner - 1;
  /// In a loop in batches: the number of the only thread that has taken more than one chunk at a
  /// time. Relaxed: a thief that misses a batch leaves it to its owner.
  std::atomic<std::uint32_t> batch_owner{no_owner};

 private:
  friend class WorkShares;

  void free_extras();

  std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint32_t> left_{0};
};

class WorkShares {
 public:
  static constexpr std::uint64_t slot_count = 8;

  /// The next construct of `thread`. `is_first`: the caller fills it in, calls publish(). May
  /// suspend.
  WorkShare& enter(TeamThread& thread, bool& is_first);
  void publish(TeamThread& thread, WorkShare& share);

  /// `thread` has done its part of its current construct.
  void leave(TeamThread& thread, std::uint32_t team_size);

  /// Between two regions that were not cancelled: every construct was left by all threads.
  void check_invariants() const {
    for (const WorkShare& share : slots_) {
      const std::uint64_t turn = share.turn_.load(std::memory_order_relaxed);
      SORREL_CHECK(turn % 2 == 0 && share.left_.load(std::memory_order_relaxed) == 0,
                   "a construct is still in use");
      SORREL_CHECK(share.memory == nullptr && share.posted == nullptr && share.counts == nullptr);
    }
  }

  /// Resets all. Only when no other thread is in a region of the team.
  void reset();

 private:
  std::array<WorkShare, slot_count> slots_;
};

}  // namespace sorrel::omp
