//! DeferredCollective - launches a collective in its nonblocking or persistent form: see
//! collective_calls.hpp.
#pragma once

#include "abi/collective_calls.hpp"
#include "mpi/collectives/operation_pool.hpp"

namespace sorrel::abi {

struct DeferredCollective {
  Member member;
  MPI_Request* request;
  mpi::CollectiveForm form = mpi::CollectiveForm::nonblocking;
  /// Hints of the persistent form; they are not used.
  MPI_Info info = MPI_INFO_NULL;

  /// Sets the request, and starts a nonblocking collective. May suspend.
  template <class Arguments>
  int operator()(CollectiveArguments call, const Arguments& arguments) const {
    const auto& [self, comm] = member;
    if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
    // Between groups, the members of one differ in their roots and amounts.
    if (comm.inter != nullptr) call = {.kind = call.kind};
    call.form = form;
    mpi::CollectiveOperation& operation = mpi::OperationPool::of(self).take();
    operation.describe(call, arguments, comm);
    return launch(operation);
  }

 private:
  [[nodiscard]] int launch(mpi::CollectiveOperation& operation) const;
};

}  // namespace sorrel::abi
