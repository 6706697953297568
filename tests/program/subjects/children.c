// Child processes: a rank waits for its own, and other ranks run meanwhile.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static int rank, ranks, faults;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

// A child that ends after the children of later ranks.
static pid_t forked(int status) {
  const pid_t child = fork();
  if (child != 0) return child;
  usleep(5000 * (useconds_t)(ranks - rank));
  _exit(status);
}

static void on_alarm(int number) {
  (void)number;
}

// While one rank waits for its child, the others exchange messages: on one worker, too. Returns
// whether the others were done first.
static int others_run(int (*wait_of_rank)(void)) {
  static int end_of_child[2];
  int were_first = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    // The child ends when the last rank has written.
    if (pipe(end_of_child) != 0) return 0;
  }
  MPI_Bcast(end_of_child, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      alarm(20);
      _exit(read(end_of_child[0], &byte, 1) == 1 ? 3 : 4);
    }
    were_first = wait_of_rank() == 3;
  } else {
    const int left = rank == 1 ? MPI_PROC_NULL : rank - 1;
    const int right = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Recv(NULL, 0, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, right, 0, MPI_COMM_WORLD);
    if (rank == ranks - 1) were_first = write(end_of_child[1], "x", 1) == 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    close(end_of_child[0]);
    close(end_of_child[1]);
  }
  return were_first;
}

static int by_wait(void) {
  int status = 0;
  return wait(&status) > 0 ? WEXITSTATUS(status) : -1;
}

static int by_waitpid(void) {
  int status = 0;
  return waitpid(-1, &status, 0) > 0 ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int status = 0;

  check(wait(&status) == -1 && errno == ECHILD, "wait without a child");
  pid_t child = forked(10 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  check(wait(&status) == child && WEXITSTATUS(status) == 10 + rank, "wait");
  check(wait(&status) == -1 && errno == ECHILD, "second wait");

  pid_t children[3];
  for (int i = 0; i < 3; ++i)
    children[i] = forked(20 + i);
  MPI_Barrier(MPI_COMM_WORLD);
  check(waitpid(children[1], &status, 0) == children[1] && WEXITSTATUS(status) == 21, "waitpid");
  struct rusage usage;
  memset(&usage, -1, sizeof usage);
  int seen = 0;
  for (int i = 0; i < 2; ++i) {
    child = wait4(0, &status, 0, &usage);
    seen += (child == children[0] && WEXITSTATUS(status) == 20) +
            (child == children[2] && WEXITSTATUS(status) == 22);
  }
  check(seen == 2 && usage.ru_utime.tv_sec >= 0, "wait4");
  check(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD, "waitpid without a child");

  // The child runs until the rank writes. Children of other ranks have the pipe, too, so closing it
  // would not end the wait.
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  child = fork();
  if (child == 0) {
    char byte;
    alarm(50);
    _exit(read(ends[0], &byte, 1) == 1 ? 30 : 31);
  }
  check(waitpid(-1, &status, WNOHANG) == 0, "waitpid without waiting");
  check(write(ends[1], "x", 1) == 1, "write");
  siginfo_t info;
  check(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == child, "waitid");
  check(waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == 30, "waitid again");
  check(waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD, "waitid without a child");
  close(ends[0]);
  close(ends[1]);

  char* const words[] = {(char*)"sh", (char*)"-c", (char*)"exit 7", NULL};
  MPI_Barrier(MPI_COMM_WORLD);
  check(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0, "posix_spawn");
  check(wait(&status) == child && WEXITSTATUS(status) == 7, "wait after posix_spawn");
  check(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0, "posix_spawnp");
  check(wait(&status) == child && WEXITSTATUS(status) == 7, "wait after posix_spawnp");
  child = vfork();
  if (child == 0) {
    execv("/bin/sh", words);
    _exit(1);
  }
  check(wait(&status) == child && WEXITSTATUS(status) == 7, "wait after vfork");

  // Children of system() and popen() are not found by wait().
  FILE* pipe = popen("exit 8", "r");
  MPI_Barrier(MPI_COMM_WORLD);
  check(wait(&status) == -1 && errno == ECHILD, "wait beside popen");
  check(WEXITSTATUS(pclose(pipe)) == 8, "pclose");
  check(WEXITSTATUS(system("exit 9")) == 9, "system");
  check(system(NULL) != 0, "system without a command");

  check(others_run(by_wait), "ranks during wait");
  check(others_run(by_waitpid), "ranks during waitpid");

  // A handler interrupts the wait.
  const struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  child = fork();
  if (child == 0) {
    sleep(20);
    _exit(0);
  }
  alarm(1);
  check(wait(&status) == -1 && errno == EINTR, "interrupted wait");
  kill(child, SIGKILL);
  check(wait(&status) == child && WTERMSIG(status) == SIGKILL, "wait after an interrupt");

  MPI_Finalize();
  if (faults == 0) printf("children of rank %d are its own\n", rank);
  return faults;
}
