// Among the receives that match a message the one posted first takes it; among the messages that
// match a receive it takes the one sent first; with and without wildcards. Messages of different
// communicators do not mix. MPI_PROC_NULL completes at once.
#include "../check.h"

static int me, ranks, partner;

/// Posts receives of increasing specificity in a shuffled order and checks which one each message
/// matched.
static void a_message_takes_the_oldest_receive(void) {
  enum { pattern_count = 4, rounds = 24 };

  uint64_t dice = 7;
  for (int round = 0; round < rounds; round++) {
    int order[pattern_count] = {0, 1, 2, 3};
    for (int i = pattern_count - 1; i > 0; i--) {
      const int k = random_below(&dice, i + 1);
      const int old = order[i];
      order[i] = order[k];
      order[k] = old;
    }
    int values[pattern_count];
    MPI_Request requests[pattern_count];
    for (int i = 0; i < pattern_count; i++) {
      const int source = order[i] & 1 ? MPI_ANY_SOURCE : partner;
      const int tag = order[i] & 2 ? MPI_ANY_TAG : 5;
      MPI_Irecv(&values[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < pattern_count; i++) {
      const int value = 100 * round + i;
      MPI_Send(&value, 1, MPI_INT, partner, 5, MPI_COMM_WORLD);
    }
    MPI_Waitall(pattern_count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < pattern_count; i++)
      CHECK_EQUAL(values[i], 100 * round + i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void a_receive_takes_the_oldest_message(void) {
  const int tags[] = {3, 1, 2, 1, 3, 2};
  MPI_Request requests[6];
  int values[6], got;
  MPI_Status status;
  for (int i = 0; i < 6; i++) {
    values[i] = i;
    MPI_Isend(&values[i], 1, MPI_INT, partner, tags[i], MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 2);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(got, 0);
  CHECK_EQUAL(status.MPI_TAG, 3);
  CHECK_EQUAL(status.MPI_SOURCE, partner);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 4);
  for (int i = 0; i < 3; i++) {
    const int expected[] = {1, 3, 5};
    MPI_Recv(&got, 1, MPI_INT, partner, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, expected[i]);
  }
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}

static void communicators_do_not_mix(void) {
  MPI_Comm other;
  MPI_Request requests[2];
  int first = 0, second = 0;
  const int one = 1, two = 2;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &requests[1]);
  MPI_Send(&two, 1, MPI_INT, partner, 9, other);
  MPI_Send(&one, 1, MPI_INT, partner, 9, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(first, 1);
  CHECK_EQUAL(second, 2);
  MPI_Comm_free(&other);
}

static void many_depths_match_in_any_order(void) {
  enum { depth = 2000 };

  static int out[depth], in[depth];
  static MPI_Request sends[depth], receives[depth];
  for (int i = 0; i < depth; i++) {
    out[i] = i;
    MPI_Irecv(&in[i], 1, MPI_INT, partner, 1000 + i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = depth - 1; i >= 0; i--)
    MPI_Isend(&out[i], 1, MPI_INT, partner, 1000 + i, MPI_COMM_WORLD, &sends[i]);
  MPI_Waitall(depth, receives, MPI_STATUSES_IGNORE);
  MPI_Waitall(depth, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < depth; i++)
    CHECK_EQUAL(in[i], i);
}

static void proc_null_answers_at_once(void) {
  int value = 17, flag = 0, count = -1;
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(value, 17);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, &status);
  CHECK_EQUAL(flag, 1);
  MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
  CHECK_EQUAL(flag, 1);
  MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0,
               MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(value, 17);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  // The mirror image: pairs are on different workers, the middle rank is its own partner.
  partner = ranks - 1 - me;
  a_message_takes_the_oldest_receive();
  a_receive_takes_the_oldest_message();
  communicators_do_not_mix();
  many_depths_match_in_any_order();
  proc_null_answers_at_once();
  MPI_Finalize();
  return 0;
}
