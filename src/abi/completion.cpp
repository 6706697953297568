// Waiting for requests and testing them, starting and freeing them. MPI 5.0, 3.7.3-3.7.5, 3.8, 3.9.
#include "abi/call.hpp"
#include "abi/check.hpp"
#include "abi/outcome.hpp"
#include "mpi/base/status.hpp"
#include "mpi/match/cancel.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::abi {

using mpi::Request;
using mpi::RequestList;

int explain(RankState& self, const Request& request) {
  if (request.error == MPI_ERR_TRUNCATE) {
    return self.fail(MPI_ERR_TRUNCATE,
                     "the message from rank %d with tag %d has %zu bytes, the receive buffer %zu",
                     request.status_source, request.status_tag, request.truncated_bytes,
                     request.status_bytes);
  }
  return request.error;
}

namespace {

/// The requests of a call as the user gave them.
struct UserRequests {
  const char* argument;
  int count;
  const MPI_Request* handles;
};

/// MPI_ERR_REQUEST, with the index of the wrong request if there is an array.
[[gnu::cold]] int fail_request(RankState& self, const UserRequests& user, int i, const char* need) {
  if (user.argument[0] == 'r') return self.fail(MPI_ERR_REQUEST, "request is not %s", need);
  return self.fail(MPI_ERR_REQUEST, "%s[%d] is not %s", user.argument, i, need);
}

/// Checks that the handles are requests or MPI_REQUEST_NULL, and calls visit(index, request) for
/// the active ones.
template <class Visit>
[[gnu::always_inline]] inline int check_requests(RankState& self,
                                                 const UserRequests& user,
                                                 Visit&& visit) {
  if (user.count < 0) [[unlikely]]
    return fail_count(self, user.count);
  if (user.count > 0 && user.handles == nullptr) [[unlikely]]
    return fail_null(self, user.argument);
  for (int i = 0; i < user.count; ++i) {
    auto* request = mpi::object_of<Request>(user.handles[i]);
    if (request == nullptr) {
      if (user.handles[i] == MPI_REQUEST_NULL) continue;
      return fail_request(self, user, i, "a valid request");
    }
    if (request->is_active) visit(i, *request);
  }
  return MPI_SUCCESS;
}

/// Visits no request.
constexpr auto visit_none = [](int, Request&) {};

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/// The standard's empty status, for a null or inactive request.
void give_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  mpi::set_empty_status(*status, MPI_ANY_SOURCE);
  status->MPI_ERROR = MPI_SUCCESS;
}

/// The status of a complete request that is kept; `request` is null for a null or inactive one.
void show_status(const Request* request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  if (request == nullptr) {
    give_empty(status);
  } else {
    mpi::set_status(*status, request->status_source, request->status_tag, request->status_bytes,
                    request->is_cancelled);
  }
}

/// The communicator of the first request that failed, whose error handler is called, whichever call
/// finds the error. Retained, because the request no longer exists then.
class FailedComm {
 public:
  FailedComm() = default;
  FailedComm(const FailedComm&) = delete;
  FailedComm& operator=(const FailedComm&) = delete;

  ~FailedComm() {
    if (comm_ != nullptr) release(*comm_);
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

/// Completes a complete request for the user; its handle becomes null unless it is persistent.
[[gnu::always_inline]] inline int finish(RankState& self,
                                         MPI_Request& handle,
                                         MPI_Status* status,
                                         FailedComm& failed) {
  auto& request = *reinterpret_cast<Request*>(handle);
  int error = MPI_SUCCESS;
  if (request.error != MPI_SUCCESS) [[unlikely]] {
    error = explain(self, request);
    failed.add(*request.comm);
  }
  if (request.life != Request::Life::persistent) handle = MPI_REQUEST_NULL;
  conclude(request, status);
  return error;
}

/// Calls body(self, failed) with the frame of a binding and checked requests, after `visit` was
/// called for all of them.
template <class Visit, class Body>
[[gnu::always_inline]] inline int with_requests(const char* function,
                                                const UserRequests& user,
                                                Visit&& visit,
                                                Body&& body) {
  FailedComm failed;
  RankState& self = enter(function);
  if (self.phase != mpi::Phase::running) [[unlikely]]
    return wrong_phase(self);
  int error = check_requests(self, user, visit);
  if (error == MPI_SUCCESS) error = body(self, failed);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self, failed.value_or(self.self_comm), error);
}

/// Completes a list of complete requests. With an array of statuses, each gets its own error.
int finish_all(
    RankState& self, int count, MPI_Request* handles, MPI_Status* statuses, FailedComm& failed) {
  const RequestList list{handles, count};
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = status_at(statuses, i);
    if (list.active(i) == nullptr) {
      give_empty(status);
      continue;
    }
    const int error = finish(self, handles[i], status, failed);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    if (error != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  return result;
}

/// Finds the first complete one of the visited requests.
struct FirstComplete {
  int index = -1;
  bool is_any_pending = false;

  void operator()(int i, Request& request) {
    if (index >= 0) return;
    is_any_pending = true;
    if (is_complete(request)) index = i;
  }
};

/// Finds whether all visited requests are complete.
struct AllComplete {
  bool value = true;

  void operator()(int /*i*/, Request& request) { value = value && is_complete(request); }
};

/// Makes progress, then visits the active requests again.
template <class Visit>
void progress_and_visit(RankState& self, const RequestList& list, Visit& visit) {
  make_progress(self);
  visit = {};
  for (int i = 0; i < list.count; ++i) {
    if (Request* request = list.active(i)) visit(i, *request);
  }
}

/// Completes every complete request and writes its index to `indices`. Returns their number.
int finish_some(RankState& self,
                const RequestList& list,
                MPI_Request* handles,
                int* indices,
                MPI_Status* statuses,
                FailedComm& failed,
                int* error) {
  int done_count = 0;
  for (int i = 0; i < list.count; ++i) {
    Request* request = list.active(i);
    if (request == nullptr || !is_complete(*request)) continue;
    MPI_Status* status = status_at(statuses, done_count);
    const int one = finish(self, handles[i], status, failed);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = one;
    if (one != MPI_SUCCESS) *error = MPI_ERR_IN_STATUS;
    indices[done_count++] = i;
  }
  return done_count;
}

[[gnu::always_inline]] inline int start_all(const char* function, const UserRequests& user) {
  return with_requests(function, user, visit_none, [&](RankState& self, FailedComm& failed) {
    for (int i = 0; i < user.count; ++i) {
      Request* request = RequestList{user.handles, user.count}[i];
      if (request == nullptr || request->life != Request::Life::persistent || request->is_active)
        return fail_request(self, user, i, "an inactive persistent request");
      if (const int error = restart(*request); error != MPI_SUCCESS) {
        failed.add(*request->comm);
        return error;
      }
    }
    return MPI_SUCCESS;
  });
}

}  // namespace

extern "C" {

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  return with_requests("MPI_Wait", {"request", 1, request}, visit_none,
                       [&](RankState& self, FailedComm& failed) {
                         Request* pending = RequestList{request, 1}.active(0);
                         if (pending == nullptr) {
                           give_empty(status);
                           return MPI_SUCCESS;
                         }
                         wait_for(*pending);
                         return finish(self, *request, status, failed);
                       });
}

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return with_requests("MPI_Test", {"request", 1, request}, visit_none,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(flag);
                         Request* pending = RequestList{request, 1}.active(0);
                         *flag = 1;
                         if (pending == nullptr) {
                           give_empty(status);
                           return MPI_SUCCESS;
                         }
                         if (!is_complete(*pending)) {
                           make_progress(self);
                           if (!is_complete(*pending)) {
                             *flag = 0;
                             return MPI_SUCCESS;
                           }
                         }
                         return finish(self, *request, status, failed);
                       });
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  mpi::PendingCounts pending;
  return with_requests(
      "MPI_Waitall", {"array_of_requests", count, array_of_requests},
      [&](int /*i*/, const Request& request) { pending.add(request); },
      [&](RankState& self, FailedComm& failed) {
        wait_for_all(self, RequestList{array_of_requests, count}, pending);
        return finish_all(self, count, array_of_requests, array_of_statuses, failed);
      });
}

int PMPI_Testall(int count,
                 MPI_Request array_of_requests[],
                 int* flag,
                 MPI_Status array_of_statuses[]) {
  AllComplete all;
  return with_requests("MPI_Testall", {"array_of_requests", count, array_of_requests}, all,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(flag);
                         if (!all.value)
                           progress_and_visit(self, RequestList{array_of_requests, count}, all);
                         *flag = all.value ? 1 : 0;
                         return all.value ? finish_all(self, count, array_of_requests,
                                                       array_of_statuses, failed)
                                          : MPI_SUCCESS;
                       });
}

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  FirstComplete first;
  return with_requests("MPI_Waitany", {"array_of_requests", count, array_of_requests}, first,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(indx);
                         if (!first.is_any_pending) {
                           *indx = MPI_UNDEFINED;
                           give_empty(status);
                           return MPI_SUCCESS;
                         }
                         if (first.index < 0)
                           first.index = wait_for_any(self, {array_of_requests, count});
                         *indx = first.index;
                         return finish(self, array_of_requests[first.index], status, failed);
                       });
}

int PMPI_Testany(
    int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  FirstComplete first;
  return with_requests("MPI_Testany", {"array_of_requests", count, array_of_requests}, first,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(indx);
                         SORREL_NOT_NULL(flag);
                         if (first.index < 0 && first.is_any_pending)
                           progress_and_visit(self, RequestList{array_of_requests, count}, first);
                         *indx = first.index < 0 ? MPI_UNDEFINED : first.index;
                         *flag = first.index >= 0 || !first.is_any_pending ? 1 : 0;
                         if (first.index >= 0)
                           return finish(self, array_of_requests[first.index], status, failed);
                         if (*flag == 1) give_empty(status);
                         return MPI_SUCCESS;
                       });
}

int PMPI_Waitsome(int incount,
                  MPI_Request array_of_requests[],
                  int* outcount,
                  int array_of_indices[],
                  MPI_Status array_of_statuses[]) {
  FirstComplete first;
  return with_requests("MPI_Waitsome", {"array_of_requests", incount, array_of_requests}, first,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(outcount);
                         SORREL_NOT_NULL_IF(incount > 0, array_of_indices);
                         int error = MPI_SUCCESS;
                         const RequestList list{array_of_requests, incount};
                         *outcount = MPI_UNDEFINED;
                         if (!first.is_any_pending) return error;
                         if (first.index < 0) wait_for_any(self, list);
                         *outcount = finish_some(self, list, array_of_requests, array_of_indices,
                                                 array_of_statuses, failed, &error);
                         return error;
                       });
}

int PMPI_Testsome(int incount,
                  MPI_Request array_of_requests[],
                  int* outcount,
                  int array_of_indices[],
                  MPI_Status array_of_statuses[]) {
  FirstComplete first;
  return with_requests("MPI_Testsome", {"array_of_requests", incount, array_of_requests}, first,
                       [&](RankState& self, FailedComm& failed) {
                         SORREL_NOT_NULL(outcount);
                         SORREL_NOT_NULL_IF(incount > 0, array_of_indices);
                         int error = MPI_SUCCESS;
                         const RequestList list{array_of_requests, incount};
                         *outcount = MPI_UNDEFINED;
                         if (!first.is_any_pending) return error;
                         if (first.index < 0) make_progress(self);
                         *outcount = finish_some(self, list, array_of_requests, array_of_indices,
                                                 array_of_statuses, failed, &error);
                         return error;
                       });
}

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return with_requests("MPI_Request_get_status", {"request", 1, &request}, visit_none,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         SORREL_NOT_NULL(flag);
                         Request* pending = RequestList{&request, 1}.active(0);
                         if (pending != nullptr && !is_complete(*pending)) make_progress(self);
                         *flag = pending == nullptr || is_complete(*pending) ? 1 : 0;
                         if (*flag == 1) show_status(pending, status);
                         return MPI_SUCCESS;
                       });
}

int PMPI_Request_get_status_all(int count,
                                const MPI_Request array_of_requests[],
                                int* flag,
                                MPI_Status* array_of_statuses) {
  AllComplete all;
  return with_requests("MPI_Request_get_status_all",
                       {"array_of_requests", count, array_of_requests}, all,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         SORREL_NOT_NULL(flag);
                         const RequestList list{array_of_requests, count};
                         if (!all.value) progress_and_visit(self, list, all);
                         *flag = all.value ? 1 : 0;
                         for (int i = 0; all.value && i < count; ++i)
                           show_status(list.active(i), status_at(array_of_statuses, i));
                         return MPI_SUCCESS;
                       });
}

int PMPI_Request_get_status_any(
    int count, const MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  FirstComplete first;
  return with_requests("MPI_Request_get_status_any",
                       {"array_of_requests", count, array_of_requests}, first,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         SORREL_NOT_NULL(indx);
                         SORREL_NOT_NULL(flag);
                         const RequestList list{array_of_requests, count};
                         if (first.index < 0 && first.is_any_pending)
                           progress_and_visit(self, list, first);
                         *indx = first.index < 0 ? MPI_UNDEFINED : first.index;
                         *flag = first.index >= 0 || !first.is_any_pending ? 1 : 0;
                         if (*flag == 1)
                           show_status(first.index < 0 ? nullptr : list[first.index], status);
                         return MPI_SUCCESS;
                       });
}

int PMPI_Request_get_status_some(int incount,
                                 const MPI_Request array_of_requests[],
                                 int* outcount,
                                 int array_of_indices[],
                                 MPI_Status* array_of_statuses) {
  FirstComplete first;
  return with_requests("MPI_Request_get_status_some",
                       {"array_of_requests", incount, array_of_requests}, first,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         SORREL_NOT_NULL(outcount);
                         SORREL_NOT_NULL_IF(incount > 0, array_of_indices);
                         *outcount = MPI_UNDEFINED;
                         if (!first.is_any_pending) return MPI_SUCCESS;
                         if (first.index < 0) make_progress(self);
                         *outcount = 0;
                         const RequestList list{array_of_requests, incount};
                         for (int i = 0; i < incount; ++i) {
                           Request* request = list.active(i);
                           if (request == nullptr || !is_complete(*request)) continue;
                           show_status(request, status_at(array_of_statuses, *outcount));
                           array_of_indices[(*outcount)++] = i;
                         }
                         return MPI_SUCCESS;
                       });
}

int PMPI_Request_free(MPI_Request* request) {
  return with_requests("MPI_Request_free", {"request", 1, request}, visit_none,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         if (*request == MPI_REQUEST_NULL)
                           return self.fail(MPI_ERR_REQUEST,
                                            "request must not be MPI_REQUEST_NULL");
                         auto& freed = *reinterpret_cast<Request*>(*request);
                         *request = MPI_REQUEST_NULL;
                         if (freed.is_active && !is_complete(freed)) {
                           freed.duties.is_released = true;
                         } else {
                           recycle(freed);
                         }
                         return MPI_SUCCESS;
                       });
}

int PMPI_Cancel(MPI_Request* request) {
  return with_requests("MPI_Cancel", {"request", 1, request}, visit_none,
                       [&](RankState& self, FailedComm& /*failed*/) {
                         if (*request == MPI_REQUEST_NULL)
                           return self.fail(MPI_ERR_REQUEST,
                                            "request must not be MPI_REQUEST_NULL");
                         auto& cancelled = *reinterpret_cast<Request*>(*request);
                         if (cancelled.is_active) cancel(cancelled);
                         return MPI_SUCCESS;
                       });
}

int PMPI_Start(MPI_Request* request) {
  return start_all("MPI_Start", {"request", 1, request});
}

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  return start_all("MPI_Startall", {"array_of_requests", count, array_of_requests});
}

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  if (status == nullptr) return raise_null("MPI_Test_cancelled", "status");
  if (flag == nullptr) return raise_null("MPI_Test_cancelled", "flag");
  *flag = status->MPI_internal[mpi::status_cancelled_index];
  return MPI_SUCCESS;
}

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  if (status == nullptr) return raise_null("MPI_Status_set_cancelled", "status");
  status->MPI_internal[mpi::status_cancelled_index] = flag != 0 ? 1 : 0;
  return MPI_SUCCESS;
}

SORREL_WEAK(int, MPI_Wait, (MPI_Request * request, MPI_Status* status))
SORREL_WEAK(int, MPI_Test, (MPI_Request * request, int* flag, MPI_Status* status))
SORREL_WEAK(int,
            MPI_Waitall,
            (int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses))
SORREL_WEAK(int,
            MPI_Testall,
            (int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]))
SORREL_WEAK(int,
            MPI_Waitany,
            (int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status))
SORREL_WEAK(int,
            MPI_Testany,
            (int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status))
SORREL_WEAK(int,
            MPI_Waitsome,
            (int incount,
             MPI_Request array_of_requests[],
             int* outcount,
             int array_of_indices[],
             MPI_Status array_of_statuses[]))
SORREL_WEAK(int,
            MPI_Testsome,
            (int incount,
             MPI_Request array_of_requests[],
             int* outcount,
             int array_of_indices[],
             MPI_Status array_of_statuses[]))
SORREL_WEAK(int, MPI_Request_get_status, (MPI_Request request, int* flag, MPI_Status* status))
SORREL_WEAK_SAME(MPI_Request_get_status_all)
SORREL_WEAK_SAME(MPI_Request_get_status_any)
SORREL_WEAK_SAME(MPI_Request_get_status_some)
SORREL_WEAK(int, MPI_Request_free, (MPI_Request * request))
SORREL_WEAK(int, MPI_Cancel, (MPI_Request * request))
SORREL_WEAK(int, MPI_Start, (MPI_Request * request))
SORREL_WEAK(int, MPI_Startall, (int count, MPI_Request array_of_requests[]))
SORREL_WEAK(int, MPI_Test_cancelled, (const MPI_Status* status, int* flag))
SORREL_WEAK(int, MPI_Status_set_cancelled, (MPI_Status * status, int flag))

}  // extern "C"

}  // namespace sorrel::abi
