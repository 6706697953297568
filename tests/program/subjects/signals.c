// Every rank has its own signals: dispositions, masks, alarms, handlers, and interrupted calls.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef OWN
#define OWN
#endif

static OWN int rank;
static int ranks, faults;
static volatile sig_atomic_t count;
static sigjmp_buf place;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void note(int number) {
  (void)number;
  ++count;
}

static void jump(int number) {
  siglongjmp(place, number);
}

static void set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(number, &action, NULL);
}

static void set_alarm(int ms) {
  const struct itimerval time = {.it_value = {.tv_usec = ms * 1000}};
  setitimer(ITIMER_REAL, &time, NULL);
}

static void ring(void) {
  for (int i = 0; i < 100; ++i) {
    int to = rank, from = -1;
    MPI_Sendrecv(&to, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(from == (rank + ranks - 1) % ranks, "message");
  }
}

static void dispositions(void) {
  struct sigaction before;
  set_handler(SIGUSR2, rank % 2 == 0 ? note : SIG_IGN);
  barrier();
  sigaction(SIGUSR2, NULL, &before);
  check(before.sa_handler == (rank % 2 == 0 ? note : SIG_IGN), "disposition");
  count = 0;
  raise(SIGUSR2);
  check(count == (rank % 2 == 0), "raise");
  kill(getpid(), SIGUSR2);
  check(count == (rank % 2 == 0 ? 2 : 0), "kill of the own process");
  barrier();
  check(signal(SIGUSR2, SIG_DFL) == (rank % 2 == 0 ? note : SIG_IGN), "signal");
}

static void alarms(void) {
  check(alarm(100 + rank) == 0, "first alarm");
  barrier();
  const unsigned left = alarm(0);
  check(left >= 99 + (unsigned)rank && left <= 100 + (unsigned)rank, "alarm left");
  set_handler(SIGALRM, note);
  count = 0;
  set_alarm(100);
  while (count == 0)
    continue;
  barrier();
  check(count == 1, "alarm while the rank computes");
  const struct itimerval often = {.it_value = {.tv_usec = 10000},
                                  .it_interval = {.tv_usec = 10000}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (count < 4)
    continue;
  set_alarm(0);
  struct itimerval now;
  getitimer(ITIMER_REAL, &now);
  check(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0, "no alarm");
  barrier();
}

static void interrupted_sleeps(void) {
  count = 0;
  set_alarm(100);
  check(sleep(10) >= 9 && count == 1, "sleep");
  const struct timespec time = {.tv_sec = 10};
  struct timespec left = {0};
  set_alarm(100);
  check(nanosleep(&time, &left) == -1 && errno == EINTR && left.tv_sec == 9 && count == 2,
        "nanosleep");
  set_alarm(100);
  check(poll(NULL, 0, 10000) == -1 && errno == EINTR && count == 3, "poll");
  set_alarm(100);
  check(pause() == -1 && errno == EINTR && count == 4, "pause");
  barrier();
}

static void jumps(void) {
  set_handler(SIGALRM, jump);
  for (volatile int i = 0; i < 3; ++i) {
    if (sigsetjmp(place, 1) == 0) {
      set_alarm(20);
      if (i == 1) sleep(10);
      for (volatile double x = 0;; x += 1)
        continue;
    }
    ring();
  }
  set_handler(SIGSEGV, jump);
  set_handler(SIGFPE, jump);
  set_handler(SIGABRT, jump);
  for (volatile int i = 0; i < 20; ++i) {
    volatile int zero = 0;
    int number = sigsetjmp(place, 1);
    if (number == 0) *(volatile int*)(long)zero = 1;
    check(number == SIGSEGV, "SIGSEGV");
    ring();
    number = sigsetjmp(place, 1);
    if (number == 0) zero = 1000 / zero;
    check(number == SIGFPE, "SIGFPE");
  }
  const int number = sigsetjmp(place, 1);
  if (number == 0) abort();
  check(number == SIGABRT, "SIGABRT");
  ring();
}

static void masks(void) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  set_handler(SIGUSR1, note);
  count = 0;
  if (rank % 2 == 0) sigprocmask(SIG_BLOCK, &set, NULL);
  barrier();
  sigprocmask(SIG_SETMASK, NULL, &old);
  check(sigismember(&old, SIGUSR1) == (rank % 2 == 0), "mask");
  raise(SIGUSR1);
  check(count == (rank % 2 == 0 ? 0 : 1), "blocked signal");
  sigpending(&old);
  check(sigismember(&old, SIGUSR1) == (rank % 2 == 0), "sigpending");
  barrier();
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  check(count == 1, "unblocked signal");
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
  sigemptyset(&old);
  check(sigsuspend(&old) == -1 && errno == EINTR && count == 2, "sigsuspend");
  raise(SIGUSR1);
  int number = 0;
  check(sigwait(&set, &number) == 0 && number == SIGUSR1 && count == 2, "sigwait");
  const struct timespec soon = {.tv_nsec = 1000000};
  check(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN, "sigtimedwait");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  barrier();
}

// From another process, as by kill(1): each rank that has a handler gets it, in whatever state it
// is.
static void from_outside(void) {
  sigset_t set, none;
  sigemptyset(&none);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  set_handler(SIGUSR1, rank == 1 ? SIG_IGN : note);
  count = 0;
  if (rank == 2) sigprocmask(SIG_BLOCK, &set, NULL);
  barrier();
  if (rank == 0 && fork() == 0) {
    usleep(100000);
    kill(getppid(), SIGUSR1);
    _exit(0);
  }
  if (rank == 0) {
    while (count == 0)
      continue;
    usleep(300000);
  }
  // The worker may be running rank 0 when the signal arrives.
  if (rank == 2) sigsuspend(&none);
  barrier();
  check(count == (rank != 1), "signal from outside");
}

// A rank that waits in MPI gets its signal there, with its own globals.
static void in_mpi(void) {
  set_handler(SIGALRM, note);
  count = 0;
  int seen = 0;
  barrier();
  if (rank != 0) set_alarm(50);
  if (rank == 0) usleep(300000);
  MPI_Bcast(&seen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(count == (rank != 0), "signal in a collective");
  barrier();
}

static void* in_thread(void* argument) {
  sigset_t* set = argument;
  int number = 0;
  sigwait(set, &number);
  count += number == SIGUSR2 ? 10 : 100;
  return NULL;
}

static void threads(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  count = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, &set);
  kill(getpid(), SIGUSR2);
  while (count == 0)
    sched_yield();
  check(count == 10, "sigwait of a thread");
  pthread_join(thread, NULL);
  barrier();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dispositions();
  alarms();
  interrupted_sleeps();
  jumps();
  masks();
  from_outside();
  in_mpi();
  threads();
  MPI_Finalize();
  if (faults == 0) printf("signals of rank %d are its own\n", rank);
  return faults;
}
