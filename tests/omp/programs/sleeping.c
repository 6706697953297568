// OpenMP threads that sleep in the C library: no sleep ends early, and threads that wait for each
// other there make progress, also the program's own thread. sleeping THREADS
#define _GNU_SOURCE
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { long_enough_ms = 200, ms_in_ns = 1000000 };

static int threads;
static atomic_int come;

static int early_sleeps(void) {
  struct timespec time = {0, long_enough_ms * ms_in_ns};
  struct timeval interval = {0, long_enough_ms * 1000};
  int early = nanosleep(&time, NULL) != 0;
  early += clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != 0;
  early += usleep(long_enough_ms * 1000) != 0;
  early += thrd_sleep(&time, NULL) != 0;
  early += poll(NULL, 0, long_enough_ms) != 0;
  early += select(0, NULL, NULL, NULL, &interval) != 0;
  struct epoll_event event;
  const int file = epoll_create1(0);
  early += epoll_wait(file, &event, 1, long_enough_ms) != 0;
  close(file);
  return early;
}

// The program's own thread waits at the end meanwhile, or comes last.
static void sleep_in_a_region(void) {
  int early = 0;
#pragma omp parallel num_threads(threads) reduction(+ : early)
  if (omp_get_thread_num() != 0) early += early_sleeps();
  printf("sleeps that ended early: %d\n", early);
}

static void nap(void) {
  usleep(10);
}

static void nap_in_poll(void) {
  (void)poll(NULL, 0, 1);
}

static void yield_core(void) {
  (void)sched_yield();
}

/// All threads of the team have come, for the `round`th time.
static void meet(int round, void (*wait)(void)) {
  come++;
  while (come < round * omp_get_num_threads())
    wait();
}

static void wait_for_each_other(const char* how, void (*wait)(void)) {
  come = 0;
  for (int region = 0; region < 2; region++) {
    come = 0;
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= 3; round++) {
#pragma omp barrier
      meet(round, wait);
    }
  }
  printf("threads that %s have met\n", how);
}

// All threads of all inner teams.
static void wait_in_nested_regions(void) {
  enum { inner = 3 };

  omp_set_max_active_levels(2);
  come = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp parallel num_threads(inner)
    {
      come++;
      while (come < threads * inner)
        nap();
#pragma omp barrier
    }
  }
  printf("threads of nested regions have met\n");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t permits;
static int turn;

// In turn by number, the program's own thread last.
static void wait_in_objects_of_the_c_library(void) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  sem_init(&permits, 0, 0);
  for (int region = 0; region < 2; region++) {
    turn = 1;
#pragma omp parallel num_threads(threads)
    {
      const int number = omp_get_thread_num();
#pragma omp barrier
      pthread_mutex_lock(&mutex);
      while (turn % threads != number)
        pthread_cond_wait(&changed, &mutex);
      turn++;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
#pragma omp barrier
      if (number != 0) {
        sem_wait(&permits);
      } else {
        for (int i = 1; i < threads; i++)
          sem_post(&permits);
      }
#pragma omp barrier
      pthread_barrier_wait(&barrier);
    }
  }
  printf("turns taken: %d\n", turn - 1);
}

int main(int argument_count, char** arguments) {
  threads = argument_count > 1 ? atoi(arguments[1]) : 4;
  sleep_in_a_region();
  wait_for_each_other("nap", nap);
  wait_for_each_other("nap in poll()", nap_in_poll);
  wait_for_each_other("yield", yield_core);
  wait_in_nested_regions();
  wait_in_objects_of_the_c_library();
  return 0;
}
