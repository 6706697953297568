// A job that is killed before its first checkpoint, or again and again after the same one. Each
// mark, a file in FOLDER, is one death of rank 2, which removes the mark before: the job is right
// when all marks are gone.
//
// usage: begin FOLDER WHEN HOW [WHAT]
//   WHEN: init, before MPI_Init; or run, behind it. HOW: killed, by a signal that looks as if it
//   came from outside; or itself, by kill(). WHAT rank 2 does before MPI_Init: file, device,
//   process, map.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char** words;

static void die_if_marked(const char* when) {
  char name[4096];
  for (int number = 1; number <= 9 && strcmp(words[2], when) == 0; ++number) {
    snprintf(name, sizeof name, "%s/mark.%d", words[1], number);
    if (unlink(name) != 0) continue;
    if (strcmp(words[3], "itself") == 0) kill(getpid(), SIGKILL);
    syscall(SYS_kill, getpid(), SIGKILL);
  }
}

static void act(const char* what) {
  char name[4096];
  snprintf(name, sizeof name, "%s/made", words[1]);
  if (strcmp(what, "file") == 0 && open(name, O_WRONLY | O_CREAT, 0600) < 0) abort();
  if (strcmp(what, "device") == 0 && open("/dev/null", O_WRONLY) < 0) abort();
  if (strcmp(what, "process") == 0 && system("true") != 0) abort();
  if (strcmp(what, "map") == 0)
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char** argv) {
  // Known before MPI_Init, too.
  const int number = atoi(getenv("SORREL_RANK"));
  words = argv;
  if (number == 2) {
    if (argc > 4) act(argv[4]);
    die_if_marked("init");
  }
  int rank = 0;
  int sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) die_if_marked("run");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
