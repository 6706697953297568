//! One-sided operations: what the origin does (MPI 5.0, 12.3).
//!
//! The origin's worker, in its fiber. A target whose memory this process can address is accessed at
//! once, by one copy through both datatypes, or element by element under the target's accumulate
//! lock. An operation on any other target is a message. The caller has checked datatypes and
//! counts, and that an operation is allowed on the datatype.
//!
//! Each returns MPI_SUCCESS or an error class: MPI_ERR_RMA_SYNC without a fitting epoch,
//! MPI_ERR_RMA_RANGE, MPI_ERR_DISP, MPI_ERR_TRUNCATE. Each may suspend: for the target's lock
//! under MPI_Win_lock_all, and until a message has left. A target of MPI_PROC_NULL does nothing.
#pragma once

#include "mpi/collectives/block_list.hpp"
#include "mpi/match/request.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/address.hpp"

namespace sorrel::mpi {

/// Whether the operation gets a request, which is allowed in passive target epochs only. With one,
/// `*request` is set, in case of success.
struct Requested {
  MPI_Request* request = nullptr;
};

/// Whether a put and a get between the two are a copy within a device. Then the origin's buffer may
/// be there; else it must be on the host. The copy is complete when the epoch, or a flush, is.
[[nodiscard]] bool is_within_device(const Win& win,
                                    const TypedBuffer& origin,
                                    const TargetBuffer& target);

[[nodiscard]] int put(Win& win,
                      const TypedBuffer& origin,
                      const TargetBuffer& target,
                      Requested requested);

[[nodiscard]] int get(Win& win,
                      const TypedBuffer& origin,
                      const TargetBuffer& target,
                      Requested requested);

/// The element kinds of both types are the same, and the operation is predefined.
[[nodiscard]] int accumulate(Win& win,
                             const TypedBuffer& origin,
                             const TargetBuffer& target,
                             const Op& op,
                             Requested requested);

/// With MPI_NO_OP, `origin` is ignored.
[[nodiscard]] int get_accumulate(Win& win,
                                 const TypedBuffer& origin,
                                 const TypedBuffer& result,
                                 const TargetBuffer& target,
                                 const Op& op,
                                 Requested requested);

/// The values have the target's type, one predefined element.
[[nodiscard]] int compare_and_swap(
    Win& win, const void* origin, const void* compare, void* result, const TargetBuffer& target);

}  // namespace sorrel::mpi
