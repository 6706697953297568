#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

int barrier(const Member& member) {
  if (member.comm.inter != nullptr) return inter::barrier(member);
  return member.comm.shared->slots().barrier(member.self, member.comm);
}

}  // namespace sorrel::mpi
