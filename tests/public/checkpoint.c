// checkpoint FILE DIE…: situations of checkpointers that public trackers report (README.md): a job
// that is restarted again and again has its alarm, its file at the same place, and no old pointers.
// Each rank writes a line for each step into a file of its own; the steps in which the job dies are
// given, one for each start.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <sorrel.h>

#include "../mpi/check.h"

enum { steps = 16 };

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
  (void)number;
  alarms = alarms + 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", argv[1], rank);
  // DMTCP 381: the place in a file that is open.
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  // DMTCP 106 and 530: an alarm that is set before the checkpoint, with its handler.
  signal(SIGALRM, on_alarm);
  alarm(3600);
  int death = 2;
  for (int step = 1; step <= steps; step++) {
    char line[64];
    const int length = snprintf(line, sizeof line, "rank %d step %2d\n", rank, step);
    CHECK_EQUAL(write(file, line, (size_t)length), length);
    if (step % 2 == 0) {
      const int outcome = sorrel_checkpoint();
      CHECK(outcome >= 0);
      // DMTCP 1168: the second restart of the same job.
      if (outcome == 1) death++;
      CHECK_EQUAL(lseek(file, 0, SEEK_CUR), (off_t)length * step);
    }
    // What is written here is cut off by the restart.
    if (death < argc && atoi(argv[death]) == step) {
      CHECK(write(file, "lost\n", 5) == 5);
      MPI_Barrier(MPI_COMM_WORLD);
      raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // The hour is not over: the rest is between the seconds that a slow machine takes and the hour.
  const unsigned rest = alarm(0);
  CHECK(rest > 1800 && rest <= 3600);
  const struct itimerval soon = {.it_value = {.tv_usec = 10000}};
  CHECK_EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
  // The signal may come before a pause().
  while (alarms == 0)
    usleep(1000);
  CHECK_EQUAL(alarms, 1);
  CHECK_EQUAL(lseek(file, 0, SEEK_SET), 0);
  for (int step = 1; step <= steps; step++) {
    char line[64], expected[64];
    const int length = snprintf(expected, sizeof expected, "rank %d step %2d\n", rank, step);
    CHECK_EQUAL(read(file, line, (size_t)length), length);
    CHECK_EQUAL(memcmp(line, expected, (size_t)length), 0);
  }
  char more;
  CHECK_EQUAL(read(file, &more, 1), 0);
  if (rank == 0) printf("restarted %d times\n", death - 2);
  MPI_Finalize();
  return 0;
}
