#include "runtime/device_ranks.hpp"

#include <atomic>

#include "device/buffers.hpp"
#include "runtime/rank_guests.hpp"

namespace sorrel::runtime {

namespace {

using mpi::Phase;

/// A rank that runs; the phase of any other stays.
void mark_with_device(mpi::RankState& rank) {
  Phase expected = Phase::running;
  // The rank may enter or leave MPI at this moment, and it reads the byte as its own.
  __atomic_compare_exchange_n(&rank.phase, &expected, Phase::running_with_device, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

}  // namespace

// A thread of the rank may get the first memory at the same time. It sets the buffers and then
// looks at the phase; here the phase is set before the buffers are looked for: one of the two
// sees the other.

void admit_calls(mpi::RankState& self) {
  __atomic_store_n(&self.phase, Phase::running, __ATOMIC_SEQ_CST);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (device::has_buffers()) mark_with_device(self);
}

void note_device_memory() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  mpi::RankState* rank = mpi::current_rank();
  if (rank == nullptr) rank = rank_of_thread();
  if (rank != nullptr) mark_with_device(*rank);
}

}  // namespace sorrel::runtime
