// The program of `sorrel selftest`, installed as a program and as a source that every C and C++
// compiler accepts.
//
//   ranks           each rank has its own globals; messages, collectives and one-sided
//   communication carry the right values ranks deadlock  every rank waits for a message that no
//   rank sends ranks crash     rank 1 writes to an invalid address
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LONG_COUNT = 20000 };

static int my_rank = -1;
static int* my_pointer = &my_rank;  // must point into this rank's own copy
static int long_message[LONG_COUNT];
static int* volatile nowhere = NULL;

static int count_wrong_globals(int rank) {
  *my_pointer = rank;
  // After the barrier all ranks have written, so a shared variable would have a wrong value.
  MPI_Barrier(MPI_COMM_WORLD);
  return my_rank != rank;
}

/// Short and long messages around a ring.
static int count_wrong_messages(int rank, int ranks) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  int got = -1, wrong = 0;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  wrong += got != previous;
  // Few ranks send long ones: the check is short.
  if (ranks > 100) return wrong;
  MPI_Request requests[2];
  static int received[LONG_COUNT];
  for (int i = 0; i < LONG_COUNT; i++)
    long_message[i] = rank + i;
  MPI_Irecv(received, LONG_COUNT, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(long_message, LONG_COUNT, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < LONG_COUNT; i++)
    wrong += received[i] != previous + i;
  return wrong;
}

static int count_wrong_collectives(int rank, int ranks) {
  int sum = 0, from_last = rank;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&from_last, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  return (sum != ranks * (ranks - 1) / 2) + (from_last != ranks - 1);
}

/// Each rank writes into the window of the next rank.
static int count_wrong_puts(int rank, int ranks) {
  int* mine = NULL;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  *mine = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  const int wrong = *mine != (rank + ranks - 1) % ranks;
  MPI_Win_free(&window);
  return wrong;
}

int main(int argc, char** argv) {
  int rank, ranks, length, all_wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && strcmp(argv[1], "deadlock") == 0)
    MPI_Recv(&length, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (argc > 1 && strcmp(argv[1], "crash") == 0) {
    if (rank == 1) *nowhere = 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int wrong = count_wrong_globals(rank) + count_wrong_messages(rank, ranks) +
              count_wrong_collectives(rank, ranks) + count_wrong_puts(rank, ranks);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(version, &length);
    printf("%d ranks, %d wrong values, %s\n", ranks, all_wrong, version);
  }
  MPI_Finalize();
  return wrong != 0;
}
