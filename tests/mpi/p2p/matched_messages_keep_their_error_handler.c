// Errors of a matched receive go to the error handler of the message's communicator, also if that
// was freed in between; MPI_COMM_SELF's is fatal here.
#include "../check.h"

static int me, partner;
static MPI_Comm expected_comm = MPI_COMM_NULL;
static int call_count = 0, last_class = MPI_SUCCESS;

static void note_error(MPI_Comm* comm, int* error, ...) {
  MPI_Error_class(*error, &last_class);
  call_count++;
  if (expected_comm != MPI_COMM_NULL) CHECK(*comm == expected_comm);
}

static MPI_Message matched(MPI_Comm comm, MPI_Request* send) {
  static const int values[2] = {1, 2};
  MPI_Message message;
  MPI_Isend(values, 2, MPI_INT, partner, 3, comm, send);
  MPI_Mprobe(partner, 3, comm, &message, MPI_STATUS_IGNORE);
  return message;
}

static void a_truncated_message(MPI_Comm comm) {
  int value, error_class;
  MPI_Request send, receive;
  MPI_Status status;
  MPI_Message message = matched(comm, &send);
  MPI_Error_class(MPI_Mrecv(&value, 1, MPI_INT, &message, &status), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_TRUNCATE);
  CHECK(message == MPI_MESSAGE_NULL);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  message = matched(comm, &send);
  CHECK_EQUAL(MPI_Imrecv(&value, 1, MPI_INT, &message, &receive), MPI_SUCCESS);
  MPI_Error_class(MPI_Wait(&receive, &status), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_TRUNCATE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/// A bad argument leaves the message in its state.
static void a_bad_count(MPI_Comm comm) {
  int values[2] = {0, 0}, error_class;
  MPI_Request send, receive;
  MPI_Message message = matched(comm, &send);
  MPI_Error_class(MPI_Mrecv(values, -1, MPI_INT, &message, MPI_STATUS_IGNORE), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_COUNT);
  MPI_Error_class(MPI_Imrecv(values, 2, MPI_DATATYPE_NULL, &message, &receive), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_TYPE);
  CHECK_EQUAL(MPI_Mrecv(values, 2, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK(values[0] == 1 && values[1] == 2);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void a_handler_of_a_freed_communicator(void) {
  int value;
  MPI_Comm copy;
  MPI_Errhandler handler;
  MPI_Request send;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(copy, handler);
  MPI_Errhandler_free(&handler);
  MPI_Message message = matched(copy, &send);
  expected_comm = copy;
  MPI_Comm_free(&copy);
  MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK_EQUAL(call_count, 1);
  CHECK_EQUAL(last_class, MPI_ERR_TRUNCATE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  a_truncated_message(MPI_COMM_WORLD);
  a_bad_count(MPI_COMM_WORLD);
  a_handler_of_a_freed_communicator();
  MPI_Finalize();
  return 0;
}
