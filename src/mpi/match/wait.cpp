#include "mpi/match/wait.hpp"

#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

void make_progress(RankState& self) {
  self.worker->yield();
}

bool try_detach(Request& request) {
  // While the message is lent to another worker it must not be read.
  return request.mode == SendMode::standard &&
         request.handoff.destination->worker == request.owner->worker &&
         request.message.is_linked() && detach(request);
}

}  // namespace sorrel::mpi
