// Generalized requests: their functions are called by waits, tests, frees and cancels, alone and
// beside other requests.
#include "../check.h"

struct operation {
  int queries, frees, cancels, was_complete, error;
};

static int query(void* state, MPI_Status* status) {
  struct operation* operation = state;
  operation->queries++;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, operation->cancels > 0);
  status->MPI_SOURCE = 42;
  status->MPI_TAG = 43;
  return operation->error;
}

static int release(void* state) {
  ((struct operation*)state)->frees++;
  return MPI_SUCCESS;
}

static int cancel(void* state, int complete) {
  struct operation* operation = state;
  operation->cancels++;
  operation->was_complete = complete;
  return MPI_SUCCESS;
}

static MPI_Request start(struct operation* operation) {
  MPI_Request request;
  memset(operation, 0, sizeof *operation);
  MPI_Grequest_start(query, release, cancel, operation, &request);
  return request;
}

static void check_status(const MPI_Status* status, int is_cancelled) {
  int count, cancelled;
  MPI_Get_count(status, MPI_INT, &count);
  CHECK_EQUAL(count, 3);
  MPI_Test_cancelled(status, &cancelled);
  CHECK_EQUAL(cancelled, is_cancelled);
  CHECK_EQUAL(status->MPI_SOURCE, 42);
  CHECK_EQUAL(status->MPI_TAG, 43);
}

static void waits_and_tests(void) {
  struct operation operation;
  MPI_Status status;
  int flag, index;
  MPI_Request request = start(&operation);
  MPI_Test(&request, &flag, &status);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(operation.queries, 0);
  MPI_Grequest_complete(request);
  MPI_Request_get_status(request, &flag, &status);
  CHECK_EQUAL(flag, 1);
  check_status(&status, 0);
  CHECK_EQUAL(operation.frees, 0);
  MPI_Wait(&request, &status);
  check_status(&status, 0);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(operation.queries, 2);
  CHECK_EQUAL(operation.frees, 1);

  request = start(&operation);
  MPI_Grequest_complete(request);
  MPI_Waitany(1, &request, &index, &status);
  CHECK_EQUAL(index, 0);
  check_status(&status, 0);
  CHECK_EQUAL(operation.frees, 1);

  request = start(&operation);
  MPI_Grequest_complete(request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(operation.queries, 1);
  CHECK_EQUAL(operation.frees, 1);
}

/// Beside a message to the rank itself.
static void in_a_list(void) {
  struct operation operation;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int value = 0, seven = 7;
  MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  requests[1] = start(&operation);
  MPI_Isend(&seven, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[2]);
  MPI_Grequest_complete(requests[1]);
  MPI_Waitall(3, requests, statuses);
  CHECK_EQUAL(value, 7);
  check_status(&statuses[1], 0);
  CHECK_EQUAL(operation.frees, 1);
}

static void frees_and_cancels(void) {
  struct operation operation;
  MPI_Status status;
  MPI_Request request = start(&operation), kept;
  MPI_Cancel(&request);
  CHECK_EQUAL(operation.cancels, 1);
  CHECK_EQUAL(operation.was_complete, 0);
  MPI_Grequest_complete(request);
  MPI_Cancel(&request);
  CHECK_EQUAL(operation.was_complete, 1);
  MPI_Wait(&request, &status);
  check_status(&status, 1);

  // Freed first, complete later.
  request = kept = start(&operation);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(operation.frees, 0);
  MPI_Grequest_complete(kept);
  CHECK_EQUAL(operation.frees, 1);
  CHECK_EQUAL(operation.queries, 0);
}

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void errors(void) {
  struct operation operation;
  MPI_Status statuses[1];
  MPI_Request request = start(&operation), receive;
  int value;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  operation.error = MPI_ERR_INTERN;
  MPI_Grequest_complete(request);
  REFUSED(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  REFUSED(MPI_Wait(&request, &statuses[0]), MPI_ERR_INTERN);
  CHECK_EQUAL(operation.frees, 1);
  request = start(&operation);
  operation.error = MPI_ERR_INTERN;
  MPI_Grequest_complete(request);
  REFUSED(MPI_Waitall(1, &request, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_INTERN);
  REFUSED(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  REFUSED(MPI_Grequest_start(NULL, release, cancel, &operation, &request), MPI_ERR_ARG);
  REFUSED(MPI_Grequest_start(query, NULL, cancel, &operation, &request), MPI_ERR_ARG);
  REFUSED(MPI_Grequest_start(query, release, NULL, &operation, &request), MPI_ERR_ARG);
  MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &receive);
  REFUSED(MPI_Grequest_complete(receive), MPI_ERR_REQUEST);
  MPI_Cancel(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  waits_and_tests();
  in_a_list();
  frees_and_cancels();
  errors();
  MPI_Finalize();
  return 0;
}
