#include "abi/any_time.hpp"

#include <mutex>

#include "loop/job_threads.hpp"

namespace sorrel::abi {

namespace {

struct StandIn {
  StandIn() {
    rank.worker_state = &worker_state;
    rank.self_comm.errhandler = mpi::errhandler_of(MPI_ERRORS_ARE_FATAL);
  }

  std::mutex in_use;
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
}

mpi::RankState* AnyTimeCall::borrow_stand_in() {
  stand_in().in_use.lock();
  return &stand_in().rank;
}

void AnyTimeCall::return_stand_in() {
  stand_in().in_use.unlock();
}

}  // namespace sorrel::abi
