// Partitioned requests outside of transfers: without a peer, inactive, freed before the other side
// has called, with too little room, and with wrong arguments.
#include "../check.h"

static int me, ranks;

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void without_a_peer(void) {
  int data[4] = {0}, flag = 0, count;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 3, requests[0]);
    MPI_Parrived(requests[1], 1, &flag);
    CHECK_EQUAL(flag, 1);
    MPI_Waitall(2, requests, statuses);
    CHECK_EQUAL(statuses[1].MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(statuses[1].MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK_EQUAL(count, 0);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/// Requests are matched in the order of the calls that make them, also those that are freed.
static void freed_unused(void) {
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  int sent = 0, received = -1;
  MPI_Request unused, send, receive;
  for (int i = 0; i < 3; i++) {
    MPI_Psend_init(&sent, 1, 1, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &unused);
    MPI_Request_free(&unused);
    MPI_Precv_init(&received, 1, 1, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &unused);
    MPI_Request_free(&unused);
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Precv_init(&received, 1, 1, MPI_INT, from, 9, comm, MPI_INFO_NULL, &receive);
  MPI_Psend_init(&sent, 1, 1, MPI_INT, to, 9, comm, MPI_INFO_NULL, &send);
  // The requests hold the communicator.
  MPI_Comm_free(&comm);
  sent = 77 + me;
  MPI_Start(&receive);
  MPI_Start(&send);
  MPI_Pready(0, send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  CHECK_EQUAL(received, 77 + from);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

/// The receiver has more room than is sent, then less: then both sides fail.
static void different_sizes(void) {
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  int sent[6] = {1, 2, 3, 4, 5, 6}, received[9] = {0}, count, flag;
  MPI_Request send, receive;
  MPI_Status status;
  MPI_Precv_init(received, 3, 3, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Psend_init(sent, 2, 3, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Start(&receive);
  MPI_Start(&send);
  MPI_Pready_range(0, 1, send);
  MPI_Wait(&receive, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 6);
  for (int i = 0; i < 9; i++)
    CHECK_EQUAL(received[i], i < 6 ? i + 1 : 0);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  // All partitions of an inactive request have arrived.
  MPI_Parrived(receive, 2, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Request_free(&receive);
  MPI_Request_free(&send);

  MPI_Precv_init(received, 5, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Psend_init(sent, 2, 3, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  for (int i = 0; i < 2; i++) {
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Pready(1, send);
    MPI_Pready(0, send);
    REFUSED(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    REFUSED(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  }
  MPI_Request_free(&receive);
  MPI_Request_free(&send);
}

static void wrong_arguments(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  int data[8] = {0}, flag, list[2] = {0, 4};
  MPI_Request request = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
#define SEND(buffer, n, count, type, dest, tag, comm, info) \
  MPI_Psend_init(buffer, n, count, type, dest, tag, comm, info, &request)
#define RECEIVE(buffer, n, count, type, source, tag, comm, info) \
  MPI_Precv_init(buffer, n, count, type, source, tag, comm, info, &request)
#define BOTH(expected, ...)                  \
  do {                                       \
    REFUSED(SEND(__VA_ARGS__), expected);    \
    REFUSED(RECEIVE(__VA_ARGS__), expected); \
  } while (0)
  BOTH(MPI_ERR_BUFFER, NULL, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_ARG, data, -1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_COUNT, data, 1, -1, MPI_INT, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_COUNT, data, 3, INT64_MAX, MPI_INT, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_TYPE, data, 1, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_TYPE, data, 1, 1, uncommitted, 0, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_RANK, data, 1, 1, MPI_INT, ranks, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_RANK, data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_TAG, data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, world, MPI_INFO_NULL);
  BOTH(MPI_ERR_COMM, data, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_INFO_NULL);
  BOTH(MPI_ERR_INFO, data, 1, 1, MPI_INT, 0, 0, world, (MPI_Info)data);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Type_free(&uncommitted);

  MPI_Psend_init(data, 4, 1, MPI_INT, me, 0, world, MPI_INFO_NULL, &request);
  MPI_Precv_init(data + 4, 4, 1, MPI_INT, me, 0, world, MPI_INFO_NULL, &receive);
  REFUSED(MPI_Pready(0, request), MPI_ERR_REQUEST);  // inactive
  MPI_Start(&request);
  REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
  REFUSED(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  REFUSED(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  REFUSED(MPI_Pready(-1, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready(4, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready_range(1, 4, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready_range(2, 1, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready_list(-1, list, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready_list(1, NULL, request), MPI_ERR_ARG);
  REFUSED(MPI_Pready_list(2, list, request), MPI_ERR_ARG);  // and partition 0 is ready
  REFUSED(MPI_Pready(0, request), MPI_ERR_ARG);
  REFUSED(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
  REFUSED(MPI_Parrived(receive, 4, &flag), MPI_ERR_ARG);
  REFUSED(MPI_Parrived(receive, 0, NULL), MPI_ERR_ARG);
  REFUSED(MPI_Request_free(&request), MPI_ERR_REQUEST);
  REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
  MPI_Pready_range(1, 3, request);
  MPI_Start(&receive);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Request_free(&receive);
}

/// Requests of other messages, complete or not, are not partitioned.
static void requests_of_other_messages(void) {
  int data[2] = {1, 0}, flag;
  MPI_Request send, receive;
  for (int i = 0; i < 2; i++) {
    const int peer = i == 0 ? me : MPI_PROC_NULL;
    MPI_Irecv(&data[1], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &receive);
    REFUSED(MPI_Parrived(receive, 0, &flag), MPI_ERR_REQUEST);
    MPI_Isend(&data[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &send);
    REFUSED(MPI_Pready(0, send), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready_range(0, 0, send), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready_list(1, data, send), MPI_ERR_REQUEST);
    REFUSED(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
}

static int raised;

static void count_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  raised++;
}

/// An error of a function that has a request alone is raised on the request's communicator.
static void own_error_handler(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Request request;
  int value = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Psend_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &request);
  MPI_Pready(0, request);
  CHECK_EQUAL(raised, 1);
  MPI_Request_free(&request);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  without_a_peer();
  freed_unused();
  different_sizes();
  wrong_arguments();
  requests_of_other_messages();
  own_error_handler();
  MPI_Finalize();
  return 0;
}
