// A posted receive can be cancelled, and then matches no message; a matched one cannot. An active
// request may be freed and still completes.
#include "../check.h"

static int me, partner;

static void a_cancelled_receive_matches_nothing(void) {
  int cancelled_value = -1, value = -1, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&cancelled_value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request send;
  MPI_Isend(&me, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &send);
  MPI_Recv(&value, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 0);
  CHECK_EQUAL(value, partner);
  CHECK_EQUAL(cancelled_value, -1);
}

static void a_matched_receive_is_not_cancelled(void) {
  int value = -1, cancelled = 1;
  MPI_Request request, send;
  MPI_Status status;
  MPI_Isend(&me, 1, MPI_INT, partner, 5, MPI_COMM_WORLD, &send);
  MPI_Probe(partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(&value, 1, MPI_INT, partner, 5, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 0);
  CHECK_EQUAL(value, partner);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void a_persistent_receive_works_after_a_cancelled_round(void) {
  int value = -1, cancelled = 0;
  MPI_Request request, send;
  MPI_Status status;
  MPI_Recv_init(&value, 1, MPI_INT, partner, 6, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Start(&request);
  MPI_Isend(&me, 1, MPI_INT, partner, 6, MPI_COMM_WORLD, &send);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 0);
  CHECK_EQUAL(value, partner);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/// Sizes that go inline, as a copy, and by reference.
static void a_freed_request_still_does_its_work(int bytes) {
  static unsigned char out[40000], in[40000];
  MPI_Request send, receive;
  int word = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  pattern_fill(out, (size_t)bytes, (uint64_t)me);
  MPI_Isend(out, bytes, MPI_BYTE, partner, 7, MPI_COMM_WORLD, &send);
  MPI_Request_free(&send);
  CHECK(send == MPI_REQUEST_NULL);
  MPI_Recv(in, bytes, MPI_BYTE, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)partner);
  MPI_Barrier(MPI_COMM_WORLD);
  // A freed receive is complete when a later message of the pair has arrived.
  memset(in, 0, (size_t)bytes);
  MPI_Irecv(in, bytes, MPI_BYTE, partner, 8, MPI_COMM_WORLD, &receive);
  MPI_Request_free(&receive);
  MPI_Isend(out, bytes, MPI_BYTE, partner, 8, MPI_COMM_WORLD, &send);
  MPI_Sendrecv(&me, 1, MPI_INT, partner, 9, &word, 1, MPI_INT, partner, 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(word, partner);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)partner);
}

static void requests_keep_their_communicator_and_datatype(void) {
  MPI_Comm copy;
  MPI_Datatype pair;
  MPI_Request requests[2];
  int in[4] = {0, 0, 0, 0};
  const int out[4] = {me, 1, me + 1, 2};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Irecv(in, 1, pair, partner, 0, copy, &requests[0]);
  MPI_Issend(out, 1, pair, partner, 0, copy, &requests[1]);
  MPI_Type_free(&pair);
  MPI_Comm_free(&copy);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(in[0] == partner && in[1] == 0 && in[2] == partner + 1 && in[3] == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  a_cancelled_receive_matches_nothing();
  a_matched_receive_is_not_cancelled();
  a_persistent_receive_works_after_a_cancelled_round();
  a_freed_request_still_does_its_work(100);
  a_freed_request_still_does_its_work(5000);
  a_freed_request_still_does_its_work(40000);
  requests_keep_their_communicator_and_datatype();
  MPI_Finalize();
  return 0;
}
