#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

void barrier(const Member& member) {
  member.comm.shared->slots().meet(member.self, member.comm);
}

}  // namespace sorrel::mpi
