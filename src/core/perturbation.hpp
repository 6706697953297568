//! Perturbation - workers are delayed, descheduled and reordered at the points where they exchange
//! something, as a seed decides.
//!
//! Only in the library for tests (SORREL_PERTURBED, src/CMakeLists.txt), and there only if
//! SORREL_PERTURB=SEED[,STRENGTH] is in the environment; in every other build the functions are
//! empty. The n-th decision of a worker is a function of the seed, the worker's number and n, so a
//! seed repeats the decisions; the threads' timing is the machine's. A worker changes its manner
//! every few hundred points: calm, often a little late, rarely very late, late at one kind of point
//! only. So there are slow workers beside fast ones, which even delays do not give. As in the chaos
//! mode of rr (O'Callahan et al. 2017).
#pragma once

#include <cstdint>

#include "core/job_memory.hpp"

namespace sorrel::core {

enum class PerturbedPoint : std::uint8_t {
  post,       ///< A record has been published, and its receiver may sleep.
  wake,       ///< A worker has been unparked, and its thread not been woken.
  take,       ///< A record has arrived, and not been handled.
  spin,       ///< A worker without a ready fiber begins to poll.
  park,       ///< A worker has announced its sleep, and not checked for work again.
  sleep,      ///< It has found no work, and does not sleep yet.
  rise,       ///< It has been woken.
  arrive,     ///< A member of a barrier arrives.
  report,     ///< A node of a barrier is full, and has not reported it.
  release,    ///< A node has released a child.
  lend,       ///< Fibers have been offered to other workers.
  borrow,     ///< A fiber has been claimed, and does not run yet.
  give_back,  ///< A borrowed fiber has stopped, and has not been sent back.
  migrate,    ///< A worker is between two threads.
  stop,       ///< A worker arrives at a stop of all.
  seat,       ///< A guest has taken a worker's seat, or given it back.
  count
};

#ifdef SORREL_PERTURBED

inline constexpr bool may_perturb = true;

/// The thread that runs the worker, or a guest of it, loses time here, now and then.
void perturb(WorkerId worker, PerturbedPoint point);

/// Whether the worker does here what it seldom does: a mailbox counts as full, a fiber as worth a
/// loan.
[[nodiscard]] bool perturbs_choice(WorkerId worker);

/// A number below `bound`, 0 mostly.
[[nodiscard]] std::uint32_t perturbed_index(WorkerId worker, std::uint32_t bound);

#else

inline constexpr bool may_perturb = false;

inline void perturb(WorkerId /*worker*/, PerturbedPoint /*point*/) {}

inline bool perturbs_choice(WorkerId /*worker*/) {
  return false;
}

inline std::uint32_t perturbed_index(WorkerId /*worker*/, std::uint32_t /*bound*/) {
  return 0;
}

#endif

}  // namespace sorrel::core
