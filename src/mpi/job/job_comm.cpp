#include "mpi/job/job_comm.hpp"

#include "mpi/job/process_world.hpp"

namespace sorrel::mpi {

Comm& job_comm_of(RankState& self) {
  std::unique_ptr<Comm>& view = self.job_comm;
  if (view != nullptr) return *view;
  // It holds no reference: the shared part lasts as long as the world.
  view = std::make_unique<Comm>();
  view->shared = &static_cast<ProcessWorld&>(*self.world).shared_of_job();
  view->rank = self.world_rank;
  view->errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
  return *view;
}

bool is_within_world(const RankState& self, const Group& group) {
  if (!self.world->may_spawn()) return true;
  const Group& world = *self.world_comm.shared->group();
  for (std::int32_t rank = 0; rank < group.size(); ++rank) {
    if (world.rank_of(group.world_rank(rank)) == MPI_UNDEFINED) return false;
  }
  return true;
}

}  // namespace sorrel::mpi
