// MPI_THREAD_MULTIPLE: every thread of a rank sends, receives, probes, tests and takes part in
// collectives of its own communicator, while the main thread waits for the others without MPI.
#include <pthread.h>

#include "../check.h"

enum { thread_count = 4, round_count = 50, long_count = 20000 };

static int rank, size;
static MPI_Comm comms[thread_count];

struct Work {
  pthread_t thread;
  int index;
};

static int value_of(int from, int thread, int round) {
  return (from * 100 + thread) * 1000 + round;
}

// A ring of threads with the same index: each message carries the round, and arrives in order.
static void pass_around(int index) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  for (int round = 0; round < round_count; ++round) {
    const int sent = value_of(rank, index, round);
    int received = -1;
    MPI_Status status;
    MPI_Sendrecv(&sent, 1, MPI_INT, right, index, &received, 1, MPI_INT, left, index,
                 MPI_COMM_WORLD, &status);
    CHECK(received == value_of(left, index, round));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == index);
  }
}

// Long messages go by reference: the sender waits for its receiver.
static void exchange_long(int index) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  int* sent = malloc(long_count * sizeof *sent);
  int* received = malloc(long_count * sizeof *received);
  for (int i = 0; i < long_count; ++i)
    sent[i] = value_of(rank, index, i % 1000);
  memset(received, 0, long_count * sizeof *received);
  MPI_Request requests[2];
  MPI_Irecv(received, long_count, MPI_INT, left, 100 + index, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, long_count, MPI_INT, right, 100 + index, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < long_count; ++i)
    CHECK(received[i] == value_of(left, index, i % 1000));
  free(sent);
  free(received);
}

static void probe(int index) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const int sent = value_of(rank, index, 7);
  MPI_Request request;
  MPI_Isend(&sent, 1, MPI_INT, right, 200 + index, MPI_COMM_WORLD, &request);
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(left, 200 + index, MPI_COMM_WORLD, &message, &status);
  int received = -1;
  MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK(received == value_of(left, index, 7));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_until_complete(int index) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const int sent = value_of(rank, index, 9);
  int received = -1;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, left, 300 + index, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, right, 300 + index, MPI_COMM_WORLD, &requests[1]);
  for (int is_complete = 0; !is_complete;)
    MPI_Testall(2, requests, &is_complete, MPI_STATUSES_IGNORE);
  CHECK(received == value_of(left, index, 9));
}

static void take_part_in_collectives(int index) {
  for (int round = 0; round < round_count; ++round) {
    int sum = -1;
    const int own = rank + index + round;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[index]);
    CHECK(sum == size * (size - 1) / 2 + size * (index + round));
    MPI_Barrier(comms[index]);
    int total = -1;
    MPI_Request request;
    MPI_Iallreduce(&own, &total, 1, MPI_INT, MPI_SUM, comms[index], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(total == sum);
  }
}

// Threads of one rank send to each other: a receive of one waits for a send of the other.
static void talk_within_the_rank(int index) {
  const int partner = index ^ 1;
  int received = -1;
  if (index % 2 == 0) {
    MPI_Recv(&received, 1, MPI_INT, rank, 400 + index, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(received == value_of(rank, partner, 0));
    const int sent = value_of(rank, index, 0);
    MPI_Ssend(&sent, 1, MPI_INT, rank, 400 + partner, MPI_COMM_WORLD);
  } else {
    const int sent = value_of(rank, index, 0);
    MPI_Ssend(&sent, 1, MPI_INT, rank, 400 + partner, MPI_COMM_WORLD);
    MPI_Recv(&received, 1, MPI_INT, rank, 400 + index, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(received == value_of(rank, partner, 0));
  }
}

static void* work(void* argument) {
  const int index = ((struct Work*)argument)->index;
  int is_main = -1;
  MPI_Is_thread_main(&is_main);
  CHECK(is_main == 0);
  int level = -1;
  MPI_Query_thread(&level);
  CHECK(level == MPI_THREAD_MULTIPLE);
  int flag = 0;
  MPI_Initialized(&flag);
  CHECK(flag);
  pass_around(index);
  exchange_long(index);
  probe(index);
  test_until_complete(index);
  take_part_in_collectives(index);
  talk_within_the_rank(index);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < thread_count; ++i)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  struct Work works[thread_count];
  for (int i = 0; i < thread_count; ++i) {
    works[i].index = i;
    CHECK(pthread_create(&works[i].thread, NULL, work, &works[i]) == 0);
  }
  int is_main = -1;
  MPI_Is_thread_main(&is_main);
  CHECK(is_main == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < thread_count; ++i)
    CHECK(pthread_join(works[i].thread, NULL) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < thread_count; ++i)
    MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
