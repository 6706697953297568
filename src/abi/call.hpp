//! The frame of every C face: find the calling rank, note what it calls, run the body, hand errors
//! to the error handler.
//!
//! A face looks like this:
//!
//!   extern "C" int PMPI_Barrier(MPI_Comm comm) {
//!     return call_on(comm, "MPI_Barrier", [&](RankState& self, Comm& c) { barrier({self, c});
//!     return MPI_SUCCESS; });
//!   }
//!   SORREL_WEAK(int, MPI_Barrier, (MPI_Comm comm))
//!
//! The body returns MPI_SUCCESS or an error class, best through self.fail(class, "what is wrong").
//! Inlined into its face, so that the return address is the user's call.
#pragma once

#include "mpi/rank_state.hpp"

namespace sorrel::abi {

using mpi::Comm;
using mpi::RankState;

/// The rank of a caller that runs none: a further OpenMP thread of a rank that is this process
/// comes to where that runs. Null if it is none. May suspend.
[[gnu::cold]] RankState* come_to_rank();

/// The same; ends the process if it is none.
[[gnu::cold]] RankState* come_to_rank(const char* function);

/// Raises "called before MPI_Init" or "after MPI_Finalize"; does not return unless the error
/// handler does.
[[gnu::cold]] int wrong_phase(RankState& self);

/// Hands an error to the handler of `comm`. Returns what the call returns to the user.
[[gnu::cold]] int raise(RankState& self, Comm& comm, int error_class);

/// The communicator handle is none.
[[gnu::cold]] int raise_no_comm(RankState& self);

/// The calling rank, or null.
[[nodiscard]] inline RankState* rank_of_caller() {
  RankState* self = mpi::current_rank();
  return self != nullptr ? self : come_to_rank();
}

/// The calling rank, in whatever phase. For functions that are legal before MPI_Init and after
/// MPI_Finalize.
[[gnu::always_inline]] inline RankState& enter(const char* function) {
  RankState* self = mpi::current_rank();
  if (self == nullptr) [[unlikely]]
    self = come_to_rank(function);
  self->call = function;
  self->call_site = __builtin_return_address(0);
  return *self;
}

/// body(self, comm) for the calling rank and a communicator.
template <class Body>
[[gnu::always_inline]] inline int call_on(MPI_Comm handle, const char* function, Body&& body) {
  RankState& self = enter(function);
  if (self.phase != mpi::Phase::running) [[unlikely]]
    return wrong_phase(self);
  Comm* comm = self.comm_of(handle);
  if (comm == nullptr) [[unlikely]]
    return raise_no_comm(self);
  const int error = body(self, *comm);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, *comm, error);
}

/// body(self), errors to the handler of MPI_COMM_SELF. Between MPI_Init and MPI_Finalize only.
template <class Body>
[[gnu::always_inline]] inline int call(const char* function, Body&& body) {
  RankState& self = enter(function);
  if (self.phase != mpi::Phase::running) [[unlikely]]
    return wrong_phase(self);
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, self.self_comm, error);
}

/// As call(), legal at any time.
template <class Body>
[[gnu::always_inline]] inline int call_any_time(const char* function, Body&& body) {
  RankState& self = enter(function);
  const int error = body(self);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, self.self_comm, error);
}

}  // namespace sorrel::abi

/// The profiling interface: MPI_X is a weak name of PMPI_X, so that tools may put their own in its
/// place.
#define SORREL_WEAK(result, name, parameters) \
  extern "C" __attribute__((weak, alias("P" #name))) result name parameters;

/// The same, with result and parameters as mpi.h has them.
#define SORREL_WEAK_SAME(name) \
  extern "C" __attribute__((weak, alias("P" #name))) decltype(P##name) name;
