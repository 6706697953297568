// A message longer than its receive buffer gives MPI_ERR_TRUNCATE at the receiver and fills the
// buffer, but nothing behind it. In a list the other requests complete and the statuses show which
// one failed.
#include "../check.h"

static int me, partner;
static unsigned char out[30000], in[30000];

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

static void check_truncated(int sent, int room) {
  CHECK_PATTERN(in, (size_t)room, (uint64_t)partner);
  for (int i = room; i < sent; i++)
    CHECK_EQUAL(in[i], 0xee);
}

static void a_receive_fails(int sent, int room) {
  MPI_Request send, receive;
  MPI_Status status;
  pattern_fill(out, (size_t)sent, (uint64_t)me);
  // Unexpected.
  memset(in, 0xee, sizeof in);
  MPI_Isend(out, sent, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &send);
  MPI_Probe(partner, 1, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(class_of(MPI_Recv(in, room, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &status)),
              MPI_ERR_TRUNCATE);
  CHECK_EQUAL(status.MPI_SOURCE, partner);
  CHECK_EQUAL(status.MPI_TAG, 1);
  check_truncated(sent, room);
  CHECK_EQUAL(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
  // Expected.
  memset(in, 0xee, sizeof in);
  MPI_Irecv(in, room, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(out, sent, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &send);
  CHECK_EQUAL(class_of(MPI_Wait(&receive, &status)), MPI_ERR_TRUNCATE);
  CHECK(receive == MPI_REQUEST_NULL);
  check_truncated(sent, room);
  CHECK_EQUAL(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one_of_a_list_fails(void) {
  int values[4] = {0, 0, 0, 0};
  const int sent[4] = {10, 11, 12, 13};
  MPI_Request requests[4];
  MPI_Status statuses[4];
  for (int i = 0; i < 3; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &requests[i]);
  requests[3] = MPI_REQUEST_NULL;
  for (int i = 0; i < 3; i++)
    MPI_Send(sent, i == 1 ? 3 : 1, MPI_INT, partner, i, MPI_COMM_WORLD);
  CHECK_EQUAL(class_of(MPI_Waitall(4, requests, statuses)), MPI_ERR_IN_STATUS);
  CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
  CHECK_EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK_EQUAL(statuses[2].MPI_ERROR, MPI_SUCCESS);
  CHECK_EQUAL(statuses[3].MPI_ERROR, MPI_SUCCESS);
  CHECK(values[0] == 10 && values[1] == 10 && values[2] == 10);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  // The error belongs to the communicator of the request, wherever it is detected.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  a_receive_fails(100, 40);
  a_receive_fails(5000, 4999);
  a_receive_fails(30000, 0);
  one_of_a_list_fails();
  MPI_Finalize();
  return 0;
}
