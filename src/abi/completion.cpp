// Requests: querying, starting, freeing and cancelling them. MPI 5.0, 3.7.3, 3.7.6, 3.8.4, 3.9. The
// table names the functions of mpi that wait and test.
#include "mpi/match/completion.hpp"

#include "abi/body.hpp"
#include "mpi/base/status.hpp"

namespace sorrel::abi::body {

using mpi::UserRequests;

int Request_get_status(RankState& self, MPI_Request request, const mpi::TestResult& result) {
  return mpi::query_all(self, UserRequests::one(&request), result);
}

int Request_free(RankState& self, FailedComm& /*failed*/, MPI_Request* request) {
  return mpi::free_request(self, request);
}

int Cancel(RankState& self, FailedComm& /*failed*/, MPI_Request* request) {
  return mpi::cancel_request(self, request);
}

int Start(RankState& self, FailedComm& failed, MPI_Request* request) {
  return mpi::start_all(self, failed, UserRequests::one(request));
}

int Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status->MPI_internal[mpi::status_cancelled_index];
  return MPI_SUCCESS;
}

int Status_set_cancelled(MPI_Status* status, int flag) {
  status->MPI_internal[mpi::status_cancelled_index] = flag != 0 ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace sorrel::abi::body
