// A process is given up while the job runs, and then has ranks again: the last rank asks for it, by
// a signal from a child, or to the parent of its process. Every rank computes a sum meanwhile.
//
// usage: give_up child|parent
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ranks_max = 64 };

/// The processes do that in a fraction of a second, on a busy machine in some.
static const time_t seconds_max = 100;

static void request(const char* by) {
  if (strcmp(by, "parent") == 0) {
    kill(getppid(), SIGUSR2);
    return;
  }
  const pid_t process = getpid();
  const pid_t child = fork();
  if (child == 0) {
    kill(process, SIGUSR2);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  int before = 0;
  int least = 0;
  int again = 0;
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const time_t end = time(NULL) + seconds_max;
  int is_late = 0;
  for (int step = 1; !is_late && again == 0; ++step) {
    int all[ranks_max] = {0};
    is_late = time(NULL) > end;
    MPI_Bcast(&is_late, 1, MPI_INT, 0, MPI_COMM_WORLD);
    sum += step * rank;
    MPI_Barrier(MPI_COMM_WORLD);
    // Where each rank is now.
    const int now = getpid();
    MPI_Allgather(&now, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    int count = 0;
    for (int i = 0; i < size; ++i)
      count += all[i] == all[size - 1];
    // Early: the balancer has moved no rank by itself.
    if (step == 2) before = count;
    if (step == 2 && rank == size - 1) request(argv[1]);
    if (step > 2 && least == 0 && count == 1) {
      least = step;
      if (rank == size - 1) request(argv[1]);
    }
    if (least != 0 && step > least && count > 1) again = count;
  }
  long total = 0;
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s\n",
           least != 0 && again > 1 && before > 1 && total > 0 ? "given up, and again" : "not");
  MPI_Finalize();
  return 0;
}
