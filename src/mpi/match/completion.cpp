#include "mpi/match/completion.hpp"

#include "mpi/base/status.hpp"
#include "mpi/match/cancel.hpp"
#include "mpi/match/device_message.hpp"
#include "mpi/match/generalized.hpp"
#include "mpi/match/idle_call.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

int explain(RankState& self, const Request& request) {
  if (request.kind == Request::Kind::operation)
    return request.operation->explain(self, request.error);
  if (request.error == MPI_ERR_TRUNCATE) {
    return self.fail(MPI_ERR_TRUNCATE,
                     "the message from rank %d with tag %d has %zu bytes, the receive buffer %zu",
                     request.status_source, request.status_tag, request.truncated_bytes,
                     request.status_bytes);
  }
  return request.error == MPI_SUCCESS ? MPI_SUCCESS : explain_device_error(self, request.error);
}

namespace {

RequestList list_of(const UserRequests& user) {
  return {user.handles, user.count};
}

/// MPI_ERR_REQUEST, with the index of the wrong request if there is an array.
[[gnu::cold]] int fail_request(RankState& self, const UserRequests& user, int i, const char* need) {
  if (!user.is_array) return self.fail(MPI_ERR_REQUEST, "request is not %s", need);
  return self.fail(MPI_ERR_REQUEST, "array_of_requests[%d] is not %s", i, need);
}

/// Checks that the handles are requests or MPI_REQUEST_NULL, and calls visit(index, request) for
/// the active ones.
template <class Visit>
[[gnu::always_inline]] inline int check_requests(RankState& self,
                                                 const UserRequests& user,
                                                 Visit&& visit) {
  if (user.count < 0) [[unlikely]]
    return self.fail(MPI_ERR_COUNT, "count is %d; it must not be negative", user.count);
  for (int i = 0; i < user.count; ++i) {
    auto* request = object_of<Request>(user.handles[i]);
    if (request == nullptr) {
      if (user.handles[i] == MPI_REQUEST_NULL) continue;
      return fail_request(self, user, i, "a valid request");
    }
    if (request->is_active) visit(i, *request);
  }
  return MPI_SUCCESS;
}

/// Sets *request to the active request of a handle, or to null.
[[gnu::always_inline]] inline int check_one(RankState& self,
                                            MPI_Request* handle,
                                            Request** request) {
  return check_requests(self, UserRequests::one(handle),
                        [&](int /*i*/, Request& active) { *request = &active; });
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/// The standard's empty status, for a null or inactive request.
void give_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  set_empty_status(*status, MPI_ANY_SOURCE);
  status->MPI_ERROR = MPI_SUCCESS;
}

/// The status of a complete request that is kept; `request` is null for a null or inactive one.
void show_status(const Request* request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  if (request == nullptr) {
    give_empty(status);
  } else if (const auto* generalized = GeneralizedRequest::of(*request)) {
    (void)generalized->query(status);
  } else {
    set_status(*status, request->status_source, request->status_tag, request->status_bytes,
               request->is_cancelled);
  }
}

/// The class of an error that a function of a generalized request returned.
[[nodiscard, gnu::cold]] int explain_generalized(RankState& self, int error) {
  if (error == MPI_SUCCESS) return error;
  return self.fail(error, "a function of the generalized request returned %d", error);
}

[[gnu::cold]] int conclude_generalized(RankState& self,
                                       GeneralizedRequest& generalized,
                                       MPI_Status* status) {
  return explain_generalized(self, generalized.conclude(status));
}

/// finish() below for a request that fails, stays, or is of an operation.
[[gnu::noinline]] int finish_uncommon(RankState& self,
                                      MPI_Request& handle,
                                      MPI_Status* status,
                                      FailedComm& failed) {
  auto& request = *reinterpret_cast<Request*>(handle);
  if (request.kind == Request::Kind::operation) {
    if (GeneralizedRequest* generalized = request.operation->generalized()) {
      handle = MPI_REQUEST_NULL;
      return conclude_generalized(self, *generalized, status);
    }
  }
  int error = MPI_SUCCESS;
  if (request.error != MPI_SUCCESS) {
    error = explain(self, request);
    failed.add(*request.comm);
  }
  if (request.life != Request::Life::persistent) handle = MPI_REQUEST_NULL;
  conclude(request, status);
  return error;
}

/// Completes a complete request for the user; its handle becomes null unless it is persistent.
[[gnu::always_inline]] inline int finish(RankState& self,
                                         MPI_Request& handle,
                                         MPI_Status* status,
                                         FailedComm& failed) {
  auto& request = *reinterpret_cast<Request*>(handle);
  const Request::Life life = request.life;
  if (life > Request::Life::endless || request.error != MPI_SUCCESS) [[unlikely]]
    return finish_uncommon(self, handle, status, failed);
  handle = MPI_REQUEST_NULL;
  conclude(request, life, status);
  return MPI_SUCCESS;
}

/// Completes a list of complete requests. With an array of statuses, each gets its own error.
int finish_all(RankState& self,
               FailedComm& failed,
               const UserRequests& user,
               MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < user.count; ++i) {
    MPI_Status* status = status_at(statuses, i);
    if (list_of(user).active(i) == nullptr) {
      give_empty(status);
      continue;
    }
    const int error = finish(self, user.handles[i], status, failed);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    if (error != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  return result;
}

/// Calls visit(index, request) for the complete ones of the active requests.
template <class Visit>
void visit_complete(const UserRequests& user, Visit&& visit) {
  for (int i = 0; i < user.count; ++i) {
    Request* request = list_of(user).active(i);
    if (request != nullptr && is_complete(*request)) visit(i, *request);
  }
}

/// Completes every complete request.
int finish_some(RankState& self,
                FailedComm& failed,
                const UserRequests& user,
                const SomeResult& result) {
  int error = MPI_SUCCESS;
  int count = 0;
  visit_complete(user, [&](int i, Request& /*request*/) {
    MPI_Status* status = status_at(result.statuses, count);
    const int one = finish(self, user.handles[i], status, failed);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = one;
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
    result.indices[count++] = i;
  });
  *result.count = count;
  return error;
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

  /// Sets what MPI_Testany returns beside the status.
  void give(int* indx, int* flag) const {
    *indx = index < 0 ? MPI_UNDEFINED : index;
    *flag = index >= 0 || !is_any_pending ? 1 : 0;
  }
};

/// Finds whether all visited requests are complete.
struct AllComplete {
  bool value = true;

  void operator()(int /*i*/, Request& request) { value = value && is_complete(request); }
};

/// Makes progress, then visits the active requests again.
template <class Visit>
void progress_and_visit(RankState& self, const UserRequests& user, Visit& visit) {
  make_progress(self);
  visit = {};
  for (int i = 0; i < user.count; ++i) {
    if (Request* request = list_of(user).active(i)) visit(i, *request);
  }
}

/// Whether all are complete, before or after one attempt at progress.
int find_all(RankState& self, const UserRequests& user, bool* are_complete) {
  AllComplete all;
  if (const int error = check_requests(self, user, all); error != MPI_SUCCESS) return error;
  if (all.value) {
    note_idle_call(self);
  } else {
    progress_and_visit(self, user, all);
  }
  *are_complete = all.value;
  return MPI_SUCCESS;
}

/// The first complete one, before or after one attempt at progress.
int find_first(RankState& self, const UserRequests& user, FirstComplete* first) {
  if (const int error = check_requests(self, user, *first); error != MPI_SUCCESS) return error;
  if (first->index >= 0 || !first->is_any_pending) {
    note_idle_call(self);
  } else {
    progress_and_visit(self, user, *first);
  }
  return MPI_SUCCESS;
}

}  // namespace

int wait_one(RankState& self, FailedComm& failed, MPI_Request* handle, MPI_Status* status) {
  Request* pending = nullptr;
  if (const int error = check_one(self, handle, &pending); error != MPI_SUCCESS) [[unlikely]]
    return error;
  if (pending == nullptr) {
    give_empty(status);
    return MPI_SUCCESS;
  }
  wait_for(*pending);
  return finish(self, *handle, status, failed);
}

int wait_all(RankState& self, FailedComm& failed, const UserRequests& user, MPI_Status* statuses) {
  PendingCounts pending;
  const int error =
      check_requests(self, user, [&](int /*i*/, const Request& request) { pending.add(request); });
  if (error != MPI_SUCCESS) return error;
  wait_for_all(self, list_of(user), pending);
  return finish_all(self, failed, user, statuses);
}

int wait_any(
    RankState& self, FailedComm& failed, const UserRequests& user, int* index, MPI_Status* status) {
  FirstComplete first;
  if (const int error = check_requests(self, user, first); error != MPI_SUCCESS) return error;
  if (!first.is_any_pending) {
    *index = MPI_UNDEFINED;
    give_empty(status);
    return MPI_SUCCESS;
  }
  *index = first.index < 0 ? wait_for_any(self, list_of(user)) : first.index;
  return finish(self, user.handles[*index], status, failed);
}

int wait_some(RankState& self,
              FailedComm& failed,
              const UserRequests& user,
              const SomeResult& result) {
  FirstComplete first;
  if (const int error = check_requests(self, user, first); error != MPI_SUCCESS) return error;
  *result.count = MPI_UNDEFINED;
  if (!first.is_any_pending) return MPI_SUCCESS;
  if (first.index < 0) wait_for_any(self, list_of(user));
  return finish_some(self, failed, user, result);
}

int test_one(RankState& self, FailedComm& failed, MPI_Request* handle, const TestResult& result) {
  Request* pending = nullptr;
  if (const int error = check_one(self, handle, &pending); error != MPI_SUCCESS) return error;
  *result.flag = 1;
  if (pending == nullptr) {
    note_idle_call(self);
    give_empty(result.status);
    return MPI_SUCCESS;
  }
  if (!is_complete(*pending)) {
    make_progress(self);
    if (!is_complete(*pending)) {
      *result.flag = 0;
      return MPI_SUCCESS;
    }
  }
  return finish(self, *handle, result.status, failed);
}

int test_all(RankState& self,
             FailedComm& failed,
             const UserRequests& user,
             const TestResult& result) {
  bool are_complete = false;
  if (const int error = find_all(self, user, &are_complete); error != MPI_SUCCESS) return error;
  *result.flag = are_complete ? 1 : 0;
  return are_complete ? finish_all(self, failed, user, result.status) : MPI_SUCCESS;
}

int test_any(RankState& self,
             FailedComm& failed,
             const UserRequests& user,
             int* index,
             const TestResult& result) {
  FirstComplete first;
  if (const int error = find_first(self, user, &first); error != MPI_SUCCESS) return error;
  first.give(index, result.flag);
  if (first.index >= 0) return finish(self, user.handles[first.index], result.status, failed);
  if (*result.flag == 1) give_empty(result.status);
  return MPI_SUCCESS;
}

int test_some(RankState& self,
              FailedComm& failed,
              const UserRequests& user,
              const SomeResult& result) {
  FirstComplete first;
  if (const int error = check_requests(self, user, first); error != MPI_SUCCESS) return error;
  *result.count = MPI_UNDEFINED;
  if (!first.is_any_pending) {
    note_idle_call(self);
    return MPI_SUCCESS;
  }
  if (first.index < 0) make_progress(self);
  return finish_some(self, failed, user, result);
}

int query_all(RankState& self, const UserRequests& user, const TestResult& result) {
  bool are_complete = false;
  if (const int error = find_all(self, user, &are_complete); error != MPI_SUCCESS) return error;
  *result.flag = are_complete ? 1 : 0;
  for (int i = 0; are_complete && i < user.count; ++i)
    show_status(list_of(user).active(i), status_at(result.status, i));
  return MPI_SUCCESS;
}

int query_any(RankState& self, const UserRequests& user, int* index, const TestResult& result) {
  FirstComplete first;
  if (const int error = find_first(self, user, &first); error != MPI_SUCCESS) return error;
  first.give(index, result.flag);
  if (*result.flag == 1)
    show_status(first.index < 0 ? nullptr : list_of(user)[first.index], result.status);
  return MPI_SUCCESS;
}

int query_some(RankState& self, const UserRequests& user, const SomeResult& result) {
  FirstComplete first;
  if (const int error = check_requests(self, user, first); error != MPI_SUCCESS) return error;
  *result.count = MPI_UNDEFINED;
  if (!first.is_any_pending) {
    note_idle_call(self);
    return MPI_SUCCESS;
  }
  if (first.index < 0) make_progress(self);
  *result.count = 0;
  visit_complete(user, [&](int i, const Request& request) {
    show_status(&request, status_at(result.statuses, *result.count));
    result.indices[(*result.count)++] = i;
  });
  return MPI_SUCCESS;
}

int start_all(RankState& self, FailedComm& failed, const UserRequests& user) {
  const int error = check_requests(self, user, [](int /*i*/, const Request& /*active*/) {});
  if (error != MPI_SUCCESS) return error;
  for (int i = 0; i < user.count; ++i) {
    Request* request = list_of(user)[i];
    if (request == nullptr || request->life != Request::Life::persistent || request->is_active)
      return fail_request(self, user, i, "an inactive persistent request");
    if (const int start_error = restart(*request); start_error != MPI_SUCCESS) {
      failed.add(*request->comm);
      return start_error;
    }
  }
  return MPI_SUCCESS;
}

namespace {

/// Sets *request to the request of a handle, active or not, which must not be null.
int check_not_null(RankState& self, MPI_Request handle, Request** request) {
  *request = object_of<Request>(handle);
  if (*request != nullptr) return MPI_SUCCESS;
  return self.fail(MPI_ERR_REQUEST, handle == MPI_REQUEST_NULL
                                        ? "request must not be MPI_REQUEST_NULL"
                                        : "request is not a valid request");
}

[[gnu::cold]] int fail_operation(RankState& self, const Request& request, const char* what) {
  OperationName name;
  request.operation->name(name);
  return self.fail(MPI_ERR_REQUEST, "request is of %s, which cannot be %s", name.c_str(), what);
}

}  // namespace

int free_request(RankState& self, MPI_Request* handle) {
  Request* freed = nullptr;
  if (const int error = check_not_null(self, *handle, &freed); error != MPI_SUCCESS) return error;
  if (GeneralizedRequest* generalized = GeneralizedRequest::of(*freed)) {
    *handle = MPI_REQUEST_NULL;
    return explain_generalized(self, generalized->free());
  }
  if (freed->kind == Request::Kind::operation) {
    // The standard forbids it; after the end of a nonblocking one it does no harm.
    if (freed->is_active && !freed->completion.is_done())
      return fail_operation(self, *freed, "freed while it is in progress");
    end_operation(*freed);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  *handle = MPI_REQUEST_NULL;
  if (freed->is_active && !is_complete(*freed)) {
    release_handle(*freed);
  } else {
    recycle(*freed);
  }
  return MPI_SUCCESS;
}

int cancel_request(RankState& self, MPI_Request* handle) {
  Request* cancelled = nullptr;
  if (const int error = check_not_null(self, *handle, &cancelled); error != MPI_SUCCESS)
    return error;
  if (GeneralizedRequest* generalized = GeneralizedRequest::of(*cancelled))
    return explain_generalized(self, generalized->cancel());
  if (cancelled->kind == Request::Kind::operation)
    return fail_operation(self, *cancelled, "cancelled");
  if (cancelled->is_active) cancel(*cancelled);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
