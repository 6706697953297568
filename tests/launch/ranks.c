// The job as seen by a rank: ranks HOW.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char* value_of(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? "(unset)" : value;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int rank, ranks, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != ranks * (ranks - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 9);
  if (rank == 0) {
    printf("%d ranks\n", ranks);
    if (strcmp(how, "input") == 0) printf("input %d\n", getchar());
    if (strcmp(how, "variables") == 0)
      printf("%s %s %s\n", value_of("LD_LIBRARY_PATH"), value_of("SORREL_JOB"), value_of("X"));
    if (strcmp(how, "library") == 0) {
      char version[MPI_MAX_LIBRARY_VERSION_STRING];
      int length;
      MPI_Get_library_version(version, &length);
      printf("%s\n", version);
    }
    fflush(stdout);
    if (strcmp(how, "system") == 0 && system(argv[2]) != 0) MPI_Abort(MPI_COMM_WORLD, 8);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "kill") == 0 && rank == ranks - 1) kill(getpid(), SIGKILL);
  // The process above is timeout(1): this signal is the end of its time.
  if (strcmp(how, "expire") == 0 && rank == ranks - 1) kill(getppid(), SIGALRM);
  if (strcmp(how, "kill") == 0 || strcmp(how, "wait") == 0 || strcmp(how, "expire") == 0) {
    // A receive without a sender: the last rank sleeps, so the deadlock is not detected.
    if (rank == ranks - 1) sleep(100);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
