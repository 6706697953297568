// A wait with a mask of its own ends with EINTR exactly if a handler has run, however close to its
// begin the signal comes. With the argument "thread" the rank has had a thread, after which it goes
// on outside of its worker.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

enum { rounds = 400, kinds = 5 };

static int faults;
static volatile sig_atomic_t count;

static void note(int number) {
  (void)number;
  ++count;
}

static void* nothing(void* unused) {
  return unused;
}

static int wait_with_mask(int kind, int epoll, const sigset_t* mask) {
  static const struct timespec time = {.tv_sec = 10}, no_time;
  struct epoll_event event;
  if (kind == 0) return ppoll(NULL, 0, &time, mask);
  if (kind == 1) return pselect(0, NULL, NULL, NULL, &time, mask);
  if (kind == 2) return epoll_pwait(epoll, &event, 1, 10000, mask);
  if (kind == 3) return sigsuspend(mask);
  return ppoll(NULL, 0, &no_time, mask);
}

static void check(int is_right, const char* what, int kind) {
  if (is_right) return;
  printf("wrong: %s, kind %d\n", what, kind);
  ++faults;
}

int main(int argc, char** argv) {
  int level, rank;
  const int has_thread = argc > 1 && strcmp(argv[1], "thread") == 0;
  MPI_Init_thread(&argc, &argv, has_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (has_thread) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sigset_t alarm_only, none;
  sigemptyset(&none);
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm_only, NULL);
  const struct sigaction action = {.sa_handler = note};
  sigaction(SIGALRM, &action, NULL);
  const int epoll = epoll_create1(0);
  // The alarms of the ranks come at different times.
  const struct itimerval often = {.it_value = {.tv_usec = 150 + 10 * rank},
                                  .it_interval = {.tv_usec = 150 + 10 * rank}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < rounds * kinds; ++i) {
    const int kind = i % kinds;
    const int before = count;
    const int answer = wait_with_mask(kind, epoll, &none);
    const int error = errno;
    const int has_run = count != before;
    if (kind < kinds - 1) check(answer == -1 && error == EINTR, "the wait did not end", kind);
    check((answer == -1 && error == EINTR) == has_run,
          "an interruption without a handler, or a handler without one", kind);
    const int behind = count;
    check(raise(0) == 0 && count == behind, "a handler ran though the signal is blocked", kind);
    raise(SIGALRM);
  }
  close(epoll);
  MPI_Finalize();
  if (faults == 0) printf("waits end with handlers\n");
  return faults != 0;
}
