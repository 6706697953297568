// Ranks that wait outside of MPI: `waits KIND`. A child ends endless waits when the file
// STDERR_FILE, the standard error of the job, has the report about them, or after half a minute.
#define _GNU_SOURCE
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <unistd.h>

static int me, ranks;

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

// Memory of rank 0 to which every rank writes, like a window of shared memory.
static void* shared(void* of_rank_0) {
  uintptr_t address = (uintptr_t)of_rank_0;
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  return (void*)address;
}

static void wait_for_flag(void (*yield)(void)) {
  static int own;
  volatile int* flag = shared(&own);
  barrier();
  if (me == 0) {
    while (*flag != ranks - 1)
      yield();
  } else {
    while (*flag != me - 1)
      yield();
    *flag = me;
  }
}

static void by_sched_yield(void) {
  sched_yield();
}

static void by_thrd_yield(void) {
  thrd_yield();
}

static void by_poll_at_once(void) {
  if (poll(NULL, 0, 0) != 0) abort();
}

static void by_select_at_once(void) {
  struct timeval no_time = {0};
  if (select(0, NULL, NULL, NULL, &no_time) != 0) abort();
}

static void by_epoll_wait_at_once(void) {
  static int set = -1;
  struct epoll_event event;
  if (set < 0) set = epoll_create1(0);
  if (epoll_wait(set, &event, 1, 0) != 0) abort();
}

static void by_thrd_sleep(void) {
  if (thrd_sleep(&(struct timespec){.tv_nsec = 1}, NULL) != 0) abort();
}

static int is_reported(void) {
  static char text[65536];
  const char* name = getenv("STDERR_FILE");
  FILE* file = name == NULL ? NULL : fopen(name, "r");
  if (file == NULL) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return strstr(text, "for 5 s") != NULL;
}

static int wait_by_poll(int pipe_end, int timeout_ms) {
  struct pollfd descriptor = {.fd = pipe_end, .events = POLLIN};
  return poll(&descriptor, 1, timeout_ms);
}

static int wait_by_ppoll(int pipe_end, int timeout_ms) {
  struct pollfd descriptor = {.fd = pipe_end, .events = POLLIN};
  struct timespec time = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
  return ppoll(&descriptor, 1, timeout_ms < 0 ? NULL : &time, NULL);
}

static int wait_by_select(int pipe_end, int timeout_ms) {
  struct timeval time = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe_end, &set);
  const int count = select(pipe_end + 1, &set, NULL, NULL, timeout_ms < 0 ? NULL : &time);
  return FD_ISSET(pipe_end, &set) == count ? count : -1;
}

static int wait_by_pselect(int pipe_end, int timeout_ms) {
  struct timespec time = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe_end, &set);
  return pselect(pipe_end + 1, &set, NULL, NULL, timeout_ms < 0 ? NULL : &time, NULL);
}

static int wait_by_epoll(int pipe_end, int timeout_ms) {
  struct epoll_event event = {.events = EPOLLIN};
  const int set = epoll_create1(0);
  epoll_ctl(set, EPOLL_CTL_ADD, pipe_end, &event);
  const int count = epoll_wait(set, &event, 1, timeout_ms);
  close(set);
  return count;
}

// Rank 0 waits for a write of the last rank; before that, it waits a tenth of a second without any
// event.
static void wait_for_pipe(int (*wait)(int pipe_end, int timeout_ms)) {
  int own[2];
  if (me == 0 && pipe(own) != 0) abort();
  const int* ends = shared(own);
  barrier();
  if (me == 0) {
    const double began = MPI_Wtime();
    const int before = wait(ends[0], 100);
    const double elapsed = MPI_Wtime() - began;
    const int now = wait(ends[0], 0);
    barrier();
    printf("%d %d %d %s\n", before, now, wait(ends[0], -1),
           elapsed >= 0.1 && elapsed < 30 ? "on time" : "early or late");
  } else {
    barrier();
    if (me == ranks - 1) usleep(50000);
    if (me == ranks - 1 && write(ends[1], "x", 1) != 1) abort();
  }
}

// One end of a pipe into which a child writes when the wait has been reported.
static int pipe_of_child(void) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  if (fork() == 0) {
    for (int second = 0; second < 30 && !is_reported(); ++second)
      sleep(1);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  return ends[0];
}

static void read_pipe(void) {
  char byte;
  if (read(pipe_of_child(), &byte, 1) != 1) abort();
}

static void poll_pipe(void) {
  if (wait_by_poll(pipe_of_child(), -1) != 1) abort();
}

static void compute(double seconds) {
  const double began = MPI_Wtime();
  while (MPI_Wtime() - began < seconds)
    continue;
}

// Without a wait, until that has been reported.
static void compute_until_reported(void) {
  const double began = MPI_Wtime();
  while (MPI_Wtime() - began < 30 && !is_reported())
    compute(0.2);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(kind, "sched_yield") == 0) wait_for_flag(by_sched_yield);
  if (strcmp(kind, "thrd_yield") == 0) wait_for_flag(by_thrd_yield);
  if (strcmp(kind, "poll_at_once") == 0) wait_for_flag(by_poll_at_once);
  if (strcmp(kind, "select_at_once") == 0) wait_for_flag(by_select_at_once);
  if (strcmp(kind, "epoll_wait_at_once") == 0) wait_for_flag(by_epoll_wait_at_once);
  if (strcmp(kind, "thrd_sleep") == 0) wait_for_flag(by_thrd_sleep);
  if (strcmp(kind, "poll") == 0) wait_for_pipe(wait_by_poll);
  if (strcmp(kind, "ppoll") == 0) wait_for_pipe(wait_by_ppoll);
  if (strcmp(kind, "select") == 0) wait_for_pipe(wait_by_select);
  if (strcmp(kind, "pselect") == 0) wait_for_pipe(wait_by_pselect);
  if (strcmp(kind, "epoll_wait") == 0) wait_for_pipe(wait_by_epoll);
  // The other ranks of the worker are ready meanwhile, or wait for this one.
  if (strcmp(kind, "read_alone") == 0 && me == 0) read_pipe();
  if (strcmp(kind, "read_awaited") == 0) {
    barrier();
    if (me == 1) usleep(100000);
    if (me == 1) read_pipe();
  }
  if (strcmp(kind, "poll_awaited") == 0 && me == 0) poll_pipe();
  if (strcmp(kind, "input") == 0) {
    barrier();
    if (me == 0) usleep(100000);
    if (me == 0) getchar();
  }
  if (strcmp(kind, "compute") == 0 && me == 0) compute(7);
  if (strcmp(kind, "compute_until_reported") == 0 && me == 0) compute_until_reported();
  barrier();
  MPI_Finalize();
  return 0;
}
