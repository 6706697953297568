// One rank of several processes ends early: faults HOW.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_for_ever(void) {
  int nothing;
  MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int rank = 0;
  if (strcmp(how, "before_init") == 0) return 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "deadlock") == 0) {
    if (rank == 0) puts("started");
    fflush(stdout);
    wait_for_ever();
  }
  if (strcmp(how, "compute") == 0) {
    if (rank == 0) puts("started");
    fflush(stdout);
    // A rank that computes does not let the other rank of its worker run.
    MPI_Barrier(MPI_COMM_WORLD);
    for (volatile long i = 0;; ++i) {
    }
  }
  if (strcmp(how, "barriers") == 0) {
    if (rank == 0) puts("started");
    fflush(stdout);
    for (;;)
      MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(how, "rounds") == 0) {
    // Until rank 0 reports the end.
    if (rank == 0) puts("started");
    fflush(stdout);
    const double began = MPI_Wtime();
    for (int go_on = 1; go_on;) {
      go_on = MPI_Wtime() - began < atof(argv[2]);
      MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) puts("over");
  }
  if (strcmp(how, "input") == 0) {
    const int first = getchar();
    if (rank == 0) printf("rank 0 read %c\n", first);
    if (rank != 0 && first != EOF) MPI_Abort(MPI_COMM_WORLD, 8);
  }
  if (strcmp(how, "statuses") == 0) {
    MPI_Finalize();
    return rank;
  }
  if (strcmp(how, "exits") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 != 0) wait_for_ever();
    // Later than rank 2, rank 0 says why.
    const clock_t end = clock() + CLOCKS_PER_SEC / 50;
    while (rank == 0 && clock() < end)
      continue;
    if (rank == 0) printf("the last line of rank 0\n");
    exit(4);
  }
  if (rank == 2) {
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 77);
    if (strcmp(how, "crash") == 0) raise(SIGSEGV);
    if (strcmp(how, "exit") == 0) exit(4);
    if (strcmp(how, "leave") == 0) _exit(0);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "orphan") == 0) {
      if (fork() == 0) {
        for (;;)
          pause();
      }
      kill(getpid(), SIGKILL);
    }
  }
  if (strcmp(how, "abort") == 0 || strcmp(how, "crash") == 0 || strcmp(how, "exit") == 0 ||
      strcmp(how, "leave") == 0 || strcmp(how, "kill") == 0 || strcmp(how, "orphan") == 0) {
    wait_for_ever();
  }
  MPI_Finalize();
  return 0;
}
