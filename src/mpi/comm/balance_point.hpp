//! BalancePoint - what happens when all ranks of a process wait in one collective.
#pragma once

namespace sorrel::mpi {

class CollectiveSlots;

/// For a job whose ranks may change their worker (job/rank_balancer.hpp).
class BalancePoint {
 public:
  virtual ~BalancePoint() = default;

  /// On the worker of the root node of `slots`, outside of any fiber or in that of the last member:
  /// every rank of the process waits in a blocking collective on `slots`, or is about to. True: the
  /// members go on when this object calls release_held() or release_stopped().
  [[nodiscard]] virtual bool hold(CollectiveSlots& slots) = 0;

  /// Registers, and unregisters, the slots of a communicator with several members. Any thread.
  virtual void add(CollectiveSlots& slots) = 0;
  virtual void remove(CollectiveSlots& slots) = 0;
};

}  // namespace sorrel::mpi
