/* Ways to end: exits.c MODE. Rank 1 ends by MODE, the others return 0. */
#include <err.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(void) {
  printf("handler\n");
}

static void quick_handler(void) {
  printf("quick handler\n");
  fflush(stdout);
}

static void exit_again(void) {
  exit(7);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* mode = argc > 1 ? argv[1] : "";
  atexit(handler);
  at_quick_exit(quick_handler);
  if (rank == 1 && strcmp(mode, "exit") == 0) exit(3);
  if (rank == 1 && strcmp(mode, "_exit") == 0) {
    printf("lost, as everywhere");
    _exit(4);
  }
  if (rank == 1 && strcmp(mode, "quick_exit") == 0) quick_exit(5);
  if (rank == 1 && strcmp(mode, "err") == 0) errx(6, "%s", "gave up");
  if (rank == 1 && strcmp(mode, "again") == 0) {
    atexit(exit_again);
    exit(1);
  }
  if (rank == 1 && strcmp(mode, "fork") == 0) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) exit(9);
    waitpid(child, &status, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
  }
  MPI_Finalize();
  return 0;
}
