// Requests: waiting, testing, querying, starting, freeing and cancelling them. MPI 5.0, 3.7.3 to
// 3.7.6, 3.8.4, 3.9.
#include "mpi/match/completion.hpp"

#include "abi/body.hpp"
#include "mpi/base/status.hpp"

namespace sorrel::abi::body {

using mpi::UserRequests;

int Wait(RankState& self, FailedComm& failed, MPI_Request* request, MPI_Status* status) {
  return mpi::wait_one(self, failed, request, status);
}

int Waitall(RankState& self,
            FailedComm& failed,
            int count,
            MPI_Request array_of_requests[],
            MPI_Status* array_of_statuses) {
  return mpi::wait_all(self, failed, UserRequests::list(count, array_of_requests),
                       array_of_statuses);
}

int Waitany(RankState& self,
            FailedComm& failed,
            int count,
            MPI_Request array_of_requests[],
            int* indx,
            MPI_Status* status) {
  return mpi::wait_any(self, failed, UserRequests::list(count, array_of_requests), indx, status);
}

int Waitsome(RankState& self,
             FailedComm& failed,
             int incount,
             MPI_Request array_of_requests[],
             int* outcount,
             int array_of_indices[],
             MPI_Status* array_of_statuses) {
  return mpi::wait_some(self, failed, UserRequests::list(incount, array_of_requests),
                        {outcount, array_of_indices, array_of_statuses});
}

int Test(RankState& self, FailedComm& failed, MPI_Request* request, int* flag, MPI_Status* status) {
  return mpi::test_one(self, failed, request, {flag, status});
}

int Testall(RankState& self,
            FailedComm& failed,
            int count,
            MPI_Request array_of_requests[],
            int* flag,
            MPI_Status* array_of_statuses) {
  return mpi::test_all(self, failed, UserRequests::list(count, array_of_requests),
                       {flag, array_of_statuses});
}

int Testany(RankState& self,
            FailedComm& failed,
            int count,
            MPI_Request array_of_requests[],
            int* indx,
            int* flag,
            MPI_Status* status) {
  return mpi::test_any(self, failed, UserRequests::list(count, array_of_requests), indx,
                       {flag, status});
}

int Testsome(RankState& self,
             FailedComm& failed,
             int incount,
             MPI_Request array_of_requests[],
             int* outcount,
             int array_of_indices[],
             MPI_Status* array_of_statuses) {
  return mpi::test_some(self, failed, UserRequests::list(incount, array_of_requests),
                        {outcount, array_of_indices, array_of_statuses});
}

int Request_get_status(
    RankState& self, FailedComm& /*failed*/, MPI_Request request, int* flag, MPI_Status* status) {
  return mpi::query_all(self, UserRequests::one(&request), {flag, status});
}

int Request_get_status_all(RankState& self,
                           FailedComm& /*failed*/,
                           int count,
                           const MPI_Request array_of_requests[],
                           int* flag,
                           MPI_Status* array_of_statuses) {
  return mpi::query_all(self, UserRequests::list(count, array_of_requests),
                        {flag, array_of_statuses});
}

int Request_get_status_any(RankState& self,
                           FailedComm& /*failed*/,
                           int count,
                           const MPI_Request array_of_requests[],
                           int* indx,
                           int* flag,
                           MPI_Status* status) {
  return mpi::query_any(self, UserRequests::list(count, array_of_requests), indx, {flag, status});
}

int Request_get_status_some(RankState& self,
                            FailedComm& /*failed*/,
                            int incount,
                            const MPI_Request array_of_requests[],
                            int* outcount,
                            int array_of_indices[],
                            MPI_Status* array_of_statuses) {
  return mpi::query_some(self, UserRequests::list(incount, array_of_requests),
                         {outcount, array_of_indices, array_of_statuses});
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

int Startall(RankState& self, FailedComm& failed, int count, MPI_Request array_of_requests[]) {
  return mpi::start_all(self, failed, UserRequests::list(count, array_of_requests));
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
