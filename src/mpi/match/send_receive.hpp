//! A send and a receive in one call: MPI_Sendrecv, MPI_Isendrecv and the forms that replace the
//! content of one buffer (MPI 5.0, 3.10).
//!
//! Owner's worker, in the owner's fiber. Arguments are valid; either side may be MPI_PROC_NULL.
#pragma once

#include "mpi/match/receive.hpp"
#include "mpi/match/send.hpp"

namespace sorrel::mpi {

/// Sends and receives; `receive` is a new request, complete on return. May suspend.
void send_receive(RankState& self,
                  Comm& comm,
                  const SendArguments& send_arguments,
                  const ReceiveArguments& receive_arguments,
                  Request& receive);

/// Starts both as one request, the receive's. Never suspends.
[[nodiscard]] int start_send_receive(RankState& self,
                                     Comm& comm,
                                     const SendArguments& send_arguments,
                                     const ReceiveArguments& receive_arguments,
                                     MPI_Request* handle);

/// The destination and tag of the data that a receive replaces.
struct ReplacedData {
  int destination;
  int tag;
};

/// As send_receive(), of a copy of the receive buffer. MPI_ERR_NO_MEM. May suspend.
[[nodiscard]] int replace(RankState& self,
                          Comm& comm,
                          const ReplacedData& replaced,
                          const ReceiveArguments& arguments,
                          Request& receive);

/// As start_send_receive(), of a copy of the receive buffer. MPI_ERR_NO_MEM. Never suspends.
[[nodiscard]] int start_replace(RankState& self,
                                Comm& comm,
                                const ReplacedData& replaced,
                                const ReceiveArguments& arguments,
                                MPI_Request* handle);

}  // namespace sorrel::mpi
