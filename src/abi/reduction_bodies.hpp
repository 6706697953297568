//! The body of MPI_Allreduce. MPI 5.0, 6.9.6.
//!
//! Inlined into its binding: each function between a call of MPI and the switch to the next rank
//! costs a mispredicted return, which with many ranks is a large part of a short allreduce.
#pragma once

#include "abi/body.hpp"
#include "abi/collective_checks.hpp"
#include "mpi/collectives/slots.hpp"

namespace sorrel::abi {

/// With all checks, for any arguments.
[[nodiscard]] int all_reduce_checked(RankState& self, Comm& comm, const UserReduction& user);

namespace body {

[[gnu::always_inline]] inline int Allreduce(RankState& self,
                                            Comm& comm,
                                            const UserReduction& user) {
  const mpi::KnownReduction* known = mpi::known_reduction(comm, user.datatype, user.op, user.count);
  const void* operand = is_in_place(user.send) ? user.receive : user.send;
  // Null pointers and MPI_IN_PLACE are the lowest addresses.
  const bool are_buffers =
      operand > MPI_IN_PLACE && user.receive > MPI_IN_PLACE && user.send != user.receive;
  if (known == nullptr || !are_buffers) [[unlikely]]
    return all_reduce_checked(self, comm, user);
  comm.call = known->call;
  // A copy: while this rank waits, another one may replace it.
  const mpi::SmallReduction reduction = known->reduction;
  return comm.shared->slots().barrier_and_reduce(self, comm, reduction, operand, user.receive);
}

}  // namespace body

}  // namespace sorrel::abi
