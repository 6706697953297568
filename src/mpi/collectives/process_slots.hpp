//! ProcessSlots - what the slots of a communicator over several processes have beside: its barriers
//! over processes, and the end of these.
//!
//! On the worker of the root of the process's barrier nodes, but for leave(). README.md, "Over
//! processes".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/collectives/barrier_nodes.hpp"
#include "mpi/collectives/process_barrier.hpp"

namespace sorrel::mpi {

class ProcessSlots final : private BarrierSite {
 public:
  /// All outlive it. `members.processes` is not null.
  ProcessSlots(CollectiveSlots& slots,
               const BarrierMembers& members,
               const BarrierNodes& nodes,
               std::uint32_t context);

  /// The members of this process have arrived. Returns true if all other members have, too, and the
  /// root has been released at once.
  bool complete(BarrierNode& root);

  /// A member that has been in a barrier has freed the communicator. On its worker.
  void leave();

  /// While all workers of the job are stopped, and no member is in a barrier: nothing of barriers
  /// over processes is left here.
  void end();

 private:
  [[noreturn]] void end_job_with(const CollectiveMismatch& mismatch);
  std::byte* value(std::int32_t rank) override;
  const std::byte* combine() override;
  bool release_all(const std::byte* result, std::uint32_t wanted) override;

  CollectiveSlots& slots_;
  const BarrierMembers& members_;
  const BarrierNodes& nodes_;
  const std::uint32_t context_;
  const ContributionMap contributions_;
  /// Created at the first barrier over processes.
  ProcessBarrier* barrier_ = nullptr;
  /// Members in this process that have been in a barrier and have freed the communicator.
  std::atomic<std::uint32_t> left_count_{0};
};

}  // namespace sorrel::mpi
