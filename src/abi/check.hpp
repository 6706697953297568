//! Argument checks shared by the C bindings. Each returns MPI_SUCCESS, or fails with a message.
#pragma once

#include <string_view>

#include "abi/user_arguments.hpp"
#include "mpi/base/internal_tag.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::abi {

[[nodiscard, gnu::cold]] int fail_datatype(mpi::RankState& self, MPI_Datatype handle);
[[nodiscard, gnu::cold]] int fail_group(mpi::RankState& self, MPI_Group handle);
[[nodiscard, gnu::cold]] int fail_op(mpi::RankState& self, MPI_Op handle);
/// For an op that a reduction may not use on the type.
[[nodiscard, gnu::cold]] int fail_op_on(mpi::RankState& self,
                                        const mpi::Op& op,
                                        const mpi::Datatype& type);
[[nodiscard, gnu::cold]] int fail_info(mpi::RankState& self);
[[nodiscard, gnu::cold]] int fail_topology(mpi::RankState& self, std::string_view kind);
[[nodiscard, gnu::cold]] int fail_uncommitted(mpi::RankState& self);
[[nodiscard, gnu::cold]] int fail_count(mpi::RankState& self, long long count);
[[nodiscard, gnu::cold]] int fail_rank(mpi::RankState& self, const char* what, int rank, int size);
/// MPI_ERR_COMM, or, where the standard allows what the library does not support, the error for
/// `subject`.
[[nodiscard, gnu::cold]] int fail_inter(mpi::RankState& self, const char* subject);
[[nodiscard, gnu::cold]] int fail_tag(mpi::RankState& self, int tag);
[[nodiscard, gnu::cold]] int fail_buffer(mpi::RankState& self, const void* buffer);
[[nodiscard, gnu::cold]] int fail_alias(mpi::RankState& self);

/// An info object, or MPI_INFO_NULL.
[[nodiscard]] int check_info(mpi::RankState& self, MPI_Info info);

/// Adds the hints of `info`, which may be MPI_INFO_NULL, to those of an object.
[[nodiscard]] int take_hints(mpi::RankState& self, MPI_Info info, mpi::Info* hints);

/// The alignment that the hint mpi_minimum_memory_alignment asks for, at least that of
/// MPI_Alloc_mem; MPI_ERR_INFO, MPI_ERR_INFO_VALUE.
[[nodiscard]] int requested_alignment(mpi::RankState& self,
                                      MPI_Info handle,
                                      std::size_t* alignment);

/// Whether the buffer can hold neither data nor absolute displacements: a null pointer with
/// predefined elements, or MPI_IN_PLACE.
[[nodiscard, gnu::always_inline]] inline bool is_no_buffer(const void* buffer,
                                                           MPI_Count count,
                                                           const mpi::Datatype& type) {
  return buffer <= MPI_IN_PLACE && count > 0 && type.size() > 0 &&
         (buffer == MPI_IN_PLACE || type.is_predefined());
}

/// Checks a buffer given by count and datatype handle, and sets *type. A null buffer is legal with
/// count 0, and with derived types, whose displacements may be absolute.
[[nodiscard, gnu::always_inline]] inline int check_buffer(mpi::RankState& self,
                                                          const void* buffer,
                                                          MPI_Count count,
                                                          MPI_Datatype handle,
                                                          mpi::Datatype** type) {
  *type = mpi::datatype_from_handle(handle);
  if (*type == nullptr) [[unlikely]]
    return fail_datatype(self, handle);
  if (count < 0) [[unlikely]]
    return fail_count(self, count);
  if (!(*type)->is_committed()) [[unlikely]]
    return fail_uncommitted(self);
  if (is_no_buffer(buffer, count, **type)) [[unlikely]]
    return fail_buffer(self, buffer);
  return MPI_SUCCESS;
}

[[nodiscard]] inline int check_buffer(mpi::RankState& self,
                                      const UserBuffer& user,
                                      mpi::Datatype** type) {
  return check_buffer(self, user.buffer, user.count, user.datatype, type);
}

/// Whether a user's tag is in 0..MPI_TAG_UB.
[[nodiscard]] inline bool is_tag(int tag) {
  return static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(mpi::tag_max);
}

/// Checks a rank of the communicator; `what` is "destination" or "source".
[[nodiscard]] inline int check_rank(mpi::RankState& self,
                                    const mpi::Comm& comm,
                                    const char* what,
                                    int rank) {
  if (rank < 0 || rank >= comm.size()) [[unlikely]]
    return fail_rank(self, what, rank, comm.size());
  return MPI_SUCCESS;
}

/// Checks a root that is no rank: MPI_ROOT and MPI_PROC_NULL are allowed on intercommunicators.
[[nodiscard, gnu::cold]] int check_inter_root(mpi::RankState& self,
                                              const mpi::Comm& comm,
                                              int root);

}  // namespace sorrel::abi
