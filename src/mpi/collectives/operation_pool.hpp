//! OperationPool - the nonblocking and persistent collectives of one worker's ranks, and the fibers
//! on which they run. The worker's thread only; grows, never shrinks. Made at the first use.
#pragma once

#include <memory>
#include <vector>

#include "core/fiber_pool.hpp"
#include "mpi/collectives/collective_operation.hpp"

namespace sorrel::mpi {

class OperationPool {
 public:
  OperationPool(core::Worker& worker, std::size_t stack_bytes) : fibers_(worker, stack_bytes) {}

  /// The pool of the rank's worker.
  static OperationPool& of(const RankState& self);

  CollectiveOperation& take();
  void give_back(CollectiveOperation& operation);

  [[nodiscard]] core::FiberPool& fibers() { return fibers_; }

  /// Whether no operation is in progress, or kept by a persistent request. O(operations).
  [[nodiscard]] bool is_idle() const;

 private:
  CollectiveOperation* free_ = nullptr;
  std::vector<std::unique_ptr<CollectiveOperation>> operations_;
  core::FiberPool fibers_;
};

}  // namespace sorrel::mpi
