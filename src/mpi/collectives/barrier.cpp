#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

int barrier(const Member& member) {
  return member.comm.shared->slots().barrier(member.self, member.comm);
}

}  // namespace sorrel::mpi
