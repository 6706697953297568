// Signals whose action changes to the one by default, or from it.
//
// usage: signals_by_default late|joined|toggled|ignored|unblocked|suspended
//   late       Handlers that are reset when they run, while the signal is on its way in other ways.
//   joined     Handlers that are taken away after a thread has sent the signal and ended.
//   toggled    Handlers that are taken away and come back while a thread sends the signal.
//   ignored    A signal that was blocked once is ignored, also if another process sends it.
//   unblocked  A pending signal ends the rank when it is no longer blocked.
//   suspended  The same in sigsuspend().
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { round_count = 2000, joined_count = 500, toggle_count = 20000 };

static sigset_t none, hangup;
static atomic_int wanted, handled_count;

static void count(int number) {
  (void)number;
  ++handled_count;
}

static void* send(void* unused) {
  int sent = 0;

  while (sent < round_count) {
    if (wanted == sent) {
      sched_yield();
      continue;
    }
    kill(getpid(), SIGHUP);
    ++sent;
  }
  return unused;
}

static void take_in_any_way(int rank) {
  const struct sigaction once = {.sa_handler = count, .sa_flags = (int)SA_RESETHAND};
  unsigned random = (unsigned)rank + 1;
  pthread_t sender;

  pthread_create(&sender, NULL, send, NULL);
  for (int i = 0; i < round_count; ++i) {
    sigaction(SIGHUP, &once, NULL);
    wanted = i + 1;
    // In the program's code the signal interrupts, in the call it is found.
    while (handled_count == i) {
      random = random * 1103515245 + 12345;
      for (volatile unsigned j = random >> 16 & 4095; j > 0; --j) {
      }
      sigprocmask(SIG_SETMASK, &none, NULL);
    }
  }
  pthread_join(sender, NULL);
  printf("rank %d: %d signals were handled\n", rank, handled_count);
}

static void* send_once(void* unused) {
  kill(getpid(), SIGHUP);
  return unused;
}

static void take_before_end(int rank) {
  for (int i = 0; i < joined_count; ++i) {
    pthread_t sender;
    signal(SIGHUP, count);
    pthread_create(&sender, NULL, send_once, NULL);
    pthread_join(sender, NULL);
    signal(SIGHUP, i % 2 == 0 ? SIG_DFL : SIG_IGN);
    if (handled_count != i + 1) {
      printf("rank %d: %d of %d signals were handled\n", rank, handled_count, i + 1);
      return;
    }
  }
  printf("rank %d: %d signals were handled\n", rank, handled_count);
}

static void* send_often(void* unused) {
  while (!wanted)
    kill(getpid(), SIGHUP);
  return unused;
}

static void toggle(int rank) {
  pthread_t sender;

  signal(SIGHUP, SIG_IGN);
  pthread_create(&sender, NULL, send_often, NULL);
  for (int i = 0; i < toggle_count; ++i) {
    signal(SIGHUP, count);
    signal(SIGHUP, SIG_IGN);
  }
  wanted = 1;
  pthread_join(sender, NULL);
  const int handled = handled_count;
  signal(SIGHUP, count);
  sigprocmask(SIG_SETMASK, &none, NULL);
  printf("rank %d: no signal was %s\n", rank, handled_count == handled ? "wrong" : "kept");
}

static void ignore(int rank) {
  sigprocmask(SIG_BLOCK, &hangup, NULL);
  sigprocmask(SIG_UNBLOCK, &hangup, NULL);
  signal(SIGHUP, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    kill(getppid(), SIGHUP);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  printf("rank %d: the signal was ignored\n", rank);
}

static void let_through(const char* how) {
  sigprocmask(SIG_BLOCK, &hangup, NULL);
  kill(getpid(), SIGHUP);
  if (strcmp(how, "unblocked") == 0)
    sigprocmask(SIG_UNBLOCK, &hangup, NULL);
  else
    sigsuspend(&none);
  printf("the signal was lost\n");
}

int main(int argc, char** argv) {
  int rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sigemptyset(&none);
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  if (strcmp(argv[1], "late") == 0) {
    take_in_any_way(rank);
  } else if (strcmp(argv[1], "joined") == 0) {
    take_before_end(rank);
  } else if (strcmp(argv[1], "toggled") == 0) {
    toggle(rank);
  } else if (strcmp(argv[1], "ignored") == 0) {
    if (rank == 0) ignore(rank);
  } else if (rank == 1) {
    let_through(argv[1]);
  }
  MPI_Finalize();
  return 0;
}
