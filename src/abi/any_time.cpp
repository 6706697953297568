#include "abi/any_time.hpp"

#include <mutex>

#include "abi/tool_state.hpp"
#include "loop/job_threads.hpp"

namespace sorrel::abi {

namespace {

struct StandIn {
  StandIn() {
    rank.worker_state = &worker_state;
    rank.self_comm.errhandler = mpi::errhandler_of(MPI_ERRORS_ARE_FATAL);
  }

  /// A function of a tool that is called in a call may call again.
  std::recursive_mutex in_use;
  mpi::WorkerState worker_state;
  mpi::RankState rank;
};

// Never destroyed, because exit handlers may call MPI functions.
StandIn& stand_in() {
  static auto* const made = new StandIn;
  return *made;
}

}  // namespace

mpi::RankState* move_to_main_thread() {
  if (sorrel_omp_run_on_main_thread_1 == nullptr || !sorrel_omp_run_on_main_thread_1())
    return nullptr;
  return mpi::current_rank();
}

void merge_stand_in(mpi::RankState& rank) {
  const std::lock_guard lock(stand_in().in_use);
  rank.services_if_used = std::move(stand_in().rank.services_if_used);
  if (rank.services_if_used == nullptr || rank.services_if_used->tool == nullptr) return;
  ToolState& tool = ToolState::of(rank);
  for (const auto& registration : tool.registrations)
    observe(rank, tool, *registration);
}

mpi::RankState* AnyTimeCall::borrow_stand_in() {
  stand_in().in_use.lock();
  return &stand_in().rank;
}

void AnyTimeCall::return_stand_in() {
  stand_in().in_use.unlock();
}

}  // namespace sorrel::abi
