// A send that no receive matches is cancelled, and waiting for it requires no call by its receiver.
// A send that a receive has matched completes as sent. Never both, never neither, in any race.
#include "../check.h"

enum { bytes_max = 300000, tag = 5, outcome_tag = 6 };

static int me, partner;
static unsigned char out[bytes_max], in[bytes_max];
static const int sizes[] = {0, 4, 600, 5000, 40000, bytes_max};

static int was_cancelled(const MPI_Status* status) {
  int flag = -1;
  MPI_Test_cancelled(status, &flag);
  return flag;
}

/// No trace of it is left at its receiver.
static void a_send_that_nothing_matches(int bytes, int by_test) {
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  MPI_Issend(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Cancel(&request);
  while (by_test && !flag)
    MPI_Test(&request, &flag, &status);
  if (!by_test) MPI_Wait(&request, &status);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(was_cancelled(&status), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Standard sends may have completed at once: then they are received.
static void a_standard_send(int bytes) {
  MPI_Request request;
  MPI_Status status;
  int sent, arrives = 0;
  pattern_fill(out, (size_t)bytes, (uint64_t)me);
  MPI_Isend(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  sent = !was_cancelled(&status);
  MPI_Sendrecv(&sent, 1, MPI_INT, partner, outcome_tag, &arrives, 1, MPI_INT, partner, outcome_tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (arrives) {
    MPI_Recv(in, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_PATTERN(in, (size_t)bytes, (uint64_t)partner);
  }
}

/// The library keeps a packed copy of the data.
static void a_scattered_send(int elements) {
  enum { stride = 32 };

  MPI_Datatype column;
  MPI_Request request;
  MPI_Status status;
  int sent, arrives = 0;
  double* grid = calloc((size_t)elements * stride, sizeof *grid);
  double* got = calloc((size_t)elements, sizeof *got);
  MPI_Type_vector(elements, 1, stride, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < elements; i++)
    grid[i * stride] = me + i;
  MPI_Isend(grid, 1, column, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  sent = !was_cancelled(&status);
  MPI_Sendrecv(&sent, 1, MPI_INT, partner, outcome_tag, &arrives, 1, MPI_INT, partner, outcome_tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (arrives) {
    MPI_Recv(got, elements, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < elements; i++)
      CHECK_EQUAL(got[i], partner + i);
  }
  MPI_Type_free(&column);
  free(grid);
  free(got);
}

static void a_matched_send(int bytes) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Message message;
  pattern_fill(out, (size_t)bytes, (uint64_t)me);
  // Matched by a receive posted earlier, then by a matched probe.
  MPI_Irecv(in, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Issend(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Cancel(&requests[1]);
  MPI_Waitall(2, requests, statuses);
  CHECK_EQUAL(was_cancelled(&statuses[1]), 0);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)partner);
  MPI_Issend(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Mprobe(partner, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Cancel(&requests[1]);
  memset(in, 0, (size_t)bytes);
  MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], &statuses[1]);
  CHECK_EQUAL(was_cancelled(&statuses[1]), 0);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)partner);
}

static void a_persistent_send(int bytes) {
  MPI_Request send;
  MPI_Status status;
  MPI_Ssend_init(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &send);
  for (int round = 0; round < 3; round++) {
    pattern_fill(out, (size_t)bytes, (uint64_t)(me + round));
    MPI_Start(&send);
    MPI_Cancel(&send);
    MPI_Wait(&send, &status);
    CHECK_EQUAL(was_cancelled(&status), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&send);
    MPI_Recv(in, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, &status);
    CHECK_EQUAL(was_cancelled(&status), 0);
    CHECK_PATTERN(in, (size_t)bytes, (uint64_t)(partner + round));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&send);
}

static void a_freed_send(int bytes) {
  MPI_Request request;
  MPI_Issend(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void pause_for(int turns) {
  int flag;
  for (int i = 0; i < turns; i++)
    MPI_Iprobe(MPI_ANY_SOURCE, outcome_tag + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/// The receive is posted about when the cancel is in flight.
static void races(int rounds) {
  uint64_t state = random_seed(7) + (uint64_t)me;
  for (int round = 0; round < rounds; round++) {
    MPI_Request receive, send;
    MPI_Status status;
    int sent, arrives = -1;
    const int bytes = sizes[round % 5];
    const int posts_first = random_below(&state, 2);
    // With its own tag, because a rank may be a round ahead.
    const int round_tag = outcome_tag + 2 + round;
    memset(in, 0, (size_t)bytes);
    pattern_fill(out, (size_t)bytes, (uint64_t)(me + 31 * round));
    if (posts_first) MPI_Irecv(in, bytes, MPI_BYTE, partner, round_tag, MPI_COMM_WORLD, &receive);
    MPI_Issend(out, bytes, MPI_BYTE, partner, round_tag, MPI_COMM_WORLD, &send);
    pause_for(random_below(&state, 6));
    MPI_Cancel(&send);
    if (!posts_first) {
      pause_for(random_below(&state, 6));
      MPI_Irecv(in, bytes, MPI_BYTE, partner, round_tag, MPI_COMM_WORLD, &receive);
    }
    MPI_Wait(&send, &status);
    sent = !was_cancelled(&status);
    MPI_Sendrecv(&sent, 1, MPI_INT, partner, outcome_tag, &arrives, 1, MPI_INT, partner,
                 outcome_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!arrives) MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
    CHECK_EQUAL(was_cancelled(&status), !arrives);
    if (arrives) CHECK_PATTERN(in, (size_t)bytes, (uint64_t)(partner + 31 * round));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  const int size_count = (int)(sizeof sizes / sizeof sizes[0]);
  for (int i = 0; i < size_count; i++) {
    a_send_that_nothing_matches(sizes[i], 0);
    a_send_that_nothing_matches(sizes[i], 1);
    a_standard_send(sizes[i]);
    a_matched_send(sizes[i]);
    a_persistent_send(sizes[i]);
    a_freed_send(sizes[i]);
  }
  for (int elements = 100; elements < 10000; elements *= 3)
    a_scattered_send(elements);
  races(argc > 1 ? atoi(argv[1]) : 200);
  MPI_Finalize();
  return 0;
}
