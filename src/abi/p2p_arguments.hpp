//! The arguments of a point-to-point call: checked, and converted into those of mpi.
//!
//! Inlined into the bindings, because every message passes through here.
#pragma once

#include "abi/check.hpp"
#include "abi/user_arguments.hpp"
#include "mpi/base/status.hpp"
#include "mpi/match/completion.hpp"
#include "mpi/match/receive.hpp"
#include "mpi/match/send.hpp"

namespace sorrel::abi {

/// Sets *type; fails with a message if an argument is not valid.
[[nodiscard, gnu::always_inline]] inline int check(mpi::RankState& self,
                                                   const mpi::Comm& comm,
                                                   const UserSend& user,
                                                   mpi::Datatype** type) {
  const int error = check_buffer(self, user.buffer, user.count, user.datatype, type);
  if (error != MPI_SUCCESS) return error;
  if (!is_tag(user.tag)) [[unlikely]]
    return fail_tag(self, user.tag);
  if (user.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  return check_rank(self, comm, "destination", user.destination);
}

[[nodiscard, gnu::always_inline]] inline int check(mpi::RankState& self,
                                                   const mpi::Comm& comm,
                                                   const UserReceive& user,
                                                   mpi::Datatype** type) {
  const int error = check_buffer(self, user.buffer, user.count, user.datatype, type);
  if (error != MPI_SUCCESS) return error;
  if (!is_tag(user.tag) && user.tag != MPI_ANY_TAG) [[unlikely]]
    return fail_tag(self, user.tag);
  if (user.source == MPI_PROC_NULL || user.source == MPI_ANY_SOURCE) return MPI_SUCCESS;
  return check_rank(self, comm, "source", user.source);
}

inline mpi::SendArguments arguments_of(const UserSend& user, mpi::Datatype& type) {
  return {.buffer = user.buffer,
          .count = static_cast<std::size_t>(user.count),
          .type = type,
          .destination = user.destination,
          .tag = user.tag};
}

inline mpi::ReceiveArguments arguments_of(const UserReceive& user, mpi::Datatype& type) {
  return {.buffer = user.buffer,
          .count = static_cast<std::size_t>(user.count),
          .type = type,
          .source = user.source,
          .tag = user.tag};
}

/// The status and the error of a complete receive.
inline int give_result(mpi::RankState& self, const mpi::Request& request, MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) {
    mpi::set_status(*status, request.status_source, request.status_tag, request.status_bytes,
                    false);
  }
  return request.error == MPI_SUCCESS ? MPI_SUCCESS : mpi::explain(self, request);
}

}  // namespace sorrel::abi
