//! The functions that complete a user's requests, alone or in arrays: wait, test and status queries
//! (MPI 5.0, 3.7.3 to 3.7.6), and starting, freeing and cancelling them (3.7.3, 3.8.4, 3.9).
//!
//! Owner's worker, in the owner's fiber. A handle may be MPI_REQUEST_NULL. Each function checks the
//! handles first and returns MPI_SUCCESS or an error class, with the detail set. `failed` gets the
//! communicator of the first request that failed. Statuses may be MPI_STATUS(ES)_IGNORE. The
//! functions that wait, and those that test and find nothing complete, may suspend.
#pragma once

#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// The communicator of the first request that failed, whose error handler is called, whichever call
/// finds the error. Retained, because the request no longer exists then.
class FailedComm {
 public:
  FailedComm() = default;
  FailedComm(const FailedComm&) = delete;
  FailedComm& operator=(const FailedComm&) = delete;

  ~FailedComm() { reset(); }

  /// Releases it.
  void reset() {
    if (comm_ != nullptr) release(*comm_);
    comm_ = nullptr;
  }

  void add(Comm& comm) {
    if (comm_ != nullptr) return;
    retain(comm);
    comm_ = &comm;
  }

  [[nodiscard]] Comm& value_or(Comm& other) const { return comm_ != nullptr ? *comm_ : other; }

 private:
  Comm* comm_ = nullptr;
};

/// Sets the error detail from a request that failed and returns the request's error class.
[[nodiscard, gnu::cold]] int explain(RankState& self, const Request& request);

/// The argument `array_of_requests` of `count` handles, or the argument `request`.
struct UserRequests {
  MPI_Request* handles;
  int count = 1;
  bool is_array = true;

  static UserRequests one(MPI_Request* handle) { return {handle, 1, false}; }

  static UserRequests list(int count, MPI_Request* handles) { return {handles, count}; }

  /// For functions that leave the handles as they are.
  static UserRequests list(int count, const MPI_Request* handles) {
    return {const_cast<MPI_Request*>(handles), count};
  }
};

/// What the test functions return beside the error.
struct TestResult {
  int* flag;
  MPI_Status* status;  ///< one, or one per request
};

/// Where the functions on some requests put their number, their indices and their statuses.
struct SomeResult {
  int* count;
  int* indices;
  MPI_Status* statuses;
};

[[nodiscard]] int wait_one(RankState& self,
                           FailedComm& failed,
                           MPI_Request* handle,
                           MPI_Status* status);
[[nodiscard]] int wait_all(RankState& self,
                           FailedComm& failed,
                           const UserRequests& user,
                           MPI_Status* statuses);
[[nodiscard]] int wait_any(
    RankState& self, FailedComm& failed, const UserRequests& user, int* index, MPI_Status* status);
[[nodiscard]] int wait_some(RankState& self,
                            FailedComm& failed,
                            const UserRequests& user,
                            const SomeResult& result);

[[nodiscard]] int test_one(RankState& self,
                           FailedComm& failed,
                           MPI_Request* handle,
                           const TestResult& result);
[[nodiscard]] int test_all(RankState& self,
                           FailedComm& failed,
                           const UserRequests& user,
                           const TestResult& result);
[[nodiscard]] int test_any(RankState& self,
                           FailedComm& failed,
                           const UserRequests& user,
                           int* index,
                           const TestResult& result);
[[nodiscard]] int test_some(RankState& self,
                            FailedComm& failed,
                            const UserRequests& user,
                            const SomeResult& result);

// As the tests, but the requests stay.
[[nodiscard]] int query_all(RankState& self, const UserRequests& user, const TestResult& result);
[[nodiscard]] int query_any(RankState& self,
                            const UserRequests& user,
                            int* index,
                            const TestResult& result);
[[nodiscard]] int query_some(RankState& self, const UserRequests& user, const SomeResult& result);

/// Starts persistent requests.
[[nodiscard]] int start_all(RankState& self, FailedComm& failed, const UserRequests& user);

/// The request ends when its operation is complete; the handle becomes null.
[[nodiscard]] int free_request(RankState& self, MPI_Request* handle);

[[nodiscard]] int cancel_request(RankState& self, MPI_Request* handle);

}  // namespace sorrel::mpi
