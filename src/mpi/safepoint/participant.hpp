//! SafepointParticipant - what a safepoint is for: saving the job, or moving ranks.
//!
//! Registered with Safepoint::add(), in every process alike; called by nothing else. A call on the
//! root's worker is on the thread of the worker at the root of a barrier of all ranks, in this
//! process.
#pragma once

#include <cstdint>

namespace sorrel::core {
class JobStop;
class Worker;
}  // namespace sorrel::core

namespace sorrel::mpi {

class CollectiveSlots;

/// For the whole job: its ranks wait at the ends of their calls.
class SafepointParticipant {
 public:
  enum class Wish : std::uint8_t {
    nothing,
    notice,    ///< on_notice() in every process, and no safepoint.
    safepoint  ///< begin() and what follows, in every process.
  };

  virtual ~SafepointParticipant() = default;

  /// On the root's worker, once in each barrier before which no safepoint has begun, perhaps before
  /// ranks of other workers have arrived: what this process wants.
  [[nodiscard]] virtual Wish wants() = 0;

  // On the root's worker in every process, when all ranks of the job have arrived in that barrier.
  /// Some process has wished it.
  virtual void on_notice() {}

  /// All ranks will come to the safepoint.
  virtual void begin() = 0;

  /// No safepoint ever begins for this participant, since a rank has threads that may be in calls:
  /// `threaded_rank`, if it is of this process, else -1.
  virtual void give_up(std::int32_t threaded_rank) = 0;

  /// The call that reports name for ranks that wait; null: the one that they are in.
  [[nodiscard]] virtual const char* call() const { return nullptr; }

  /// In each process, on the stack of its last rank to come: returns when the process is ready. May
  /// suspend.
  virtual void prepare(core::Worker& /*worker*/) {}

  /// Afterwards, in the processes that request the stop.
  virtual void prepare_stop() {}

  /// In each process, while all workers of the job are stopped and nothing is in flight. Returns
  /// what Safepoint::enter() returns to the ranks.
  [[nodiscard]] virtual int run(core::JobStop& stop) = 0;

  /// Afterwards, still stopped: the ranks that wait here have been made ready.
  virtual void resume() {}
};

/// For a process alone: its ranks wait in their barrier.
class ProcessParticipant {
 public:
  virtual ~ProcessParticipant() = default;

  /// On the worker of the root node, perhaps before all ranks have arrived: whether begin_in() may
  /// return true in this barrier.
  [[nodiscard]] virtual bool is_due() const = 0;

  /// On the worker of the root node of `slots`, outside of any fiber or in that of the last member:
  /// every rank of the process waits in a blocking collective on `slots`, or is about to. True: the
  /// members go on when this object calls release_at_safepoint() or release_after_safepoint().
  [[nodiscard]] virtual bool begin_in(CollectiveSlots& slots) = 0;
};

}  // namespace sorrel::mpi
