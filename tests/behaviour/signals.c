// Signals that end a rank, and actions that are not allowed in handlers: `signals KIND`.
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf place;

static void jump(int number) {
  siglongjmp(place, number);
}

static void send(int number) {
  MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void abort_job(int number) {
  MPI_Abort(MPI_COMM_WORLD, number);
}

static void leave(int number) {
  _exit(number);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  int rank, value;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    if (strcmp(kind, "jump") == 0) signal(SIGALRM, jump);
    if (strcmp(kind, "send") == 0) signal(SIGALRM, send);
    if (strcmp(kind, "abort") == 0) signal(SIGALRM, abort_job);
    if (strcmp(kind, "exit") == 0) signal(SIGALRM, leave);
    alarm(1);
    if (sigsetjmp(place, 1) == 0)
      MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    // The signal ends the job long before.
    sleep(30);
    MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
