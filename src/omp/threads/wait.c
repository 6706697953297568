// Part of libsorrel-threads.so.0 (kernel_thread.c): functions of the C library in which a thread
// sleeps. An OpenMP thread that would sleep on a thread of the program, where the OpenMP thread of
// the program's own lies below it, continues on another thread first: that one may be what it waits
// for. sched_yield() lets other OpenMP threads run.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "omp/threads/next.h"

// Defined in the OpenMP library.
__attribute__((weak)) int sorrel_omp_yield_1(void);

// A function in which the caller may sleep.
#define SLEEPS(Result, name, parameters, arguments) \
  VISIBLE Result name parameters {                  \
    leave_native_thread();                          \
    NEXT(name);                                     \
    return next arguments;                          \
  }

SLEEPS(unsigned, sleep, (unsigned seconds), (seconds))
SLEEPS(int, usleep, (useconds_t microseconds), (microseconds))
SLEEPS(int, nanosleep, (const struct timespec* time, struct timespec* rest), (time, rest))
SLEEPS(int,
       clock_nanosleep,
       (clockid_t clock, int flags, const struct timespec* time, struct timespec* rest),
       (clock, flags, time, rest))
SLEEPS(int, thrd_sleep, (const struct timespec* time, struct timespec* rest), (time, rest))

SLEEPS(int, poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout))
SLEEPS(int,
       ppoll,
       (struct pollfd * files, nfds_t count, const struct timespec* timeout, const sigset_t* mask),
       (files, count, timeout, mask))
SLEEPS(int,
       select,
       (int count,
        fd_set* restrict to_read,
        fd_set* restrict to_write,
        fd_set* restrict exceptional,
        struct timeval* restrict timeout),
       (count, to_read, to_write, exceptional, timeout))
SLEEPS(int,
       pselect,
       (int count,
        fd_set* restrict to_read,
        fd_set* restrict to_write,
        fd_set* restrict exceptional,
        const struct timespec* restrict timeout,
        const sigset_t* restrict mask),
       (count, to_read, to_write, exceptional, timeout, mask))
SLEEPS(int,
       epoll_wait,
       (int file, struct epoll_event* events, int count, int timeout),
       (file, events, count, timeout))
SLEEPS(int,
       epoll_pwait,
       (int file, struct epoll_event* events, int count, int timeout, const sigset_t* mask),
       (file, events, count, timeout, mask))

SLEEPS(int,
       pthread_cond_wait,
       (pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex),
       (condition, mutex))
SLEEPS(int,
       pthread_cond_timedwait,
       (pthread_cond_t* restrict condition,
        pthread_mutex_t* restrict mutex,
        const struct timespec* restrict until),
       (condition, mutex, until))
// The next two are in glibc 2.30 and newer.
SLEEPS(int,
       pthread_cond_clockwait,
       (pthread_cond_t* restrict condition,
        pthread_mutex_t* restrict mutex,
        clockid_t clock,
        const struct timespec* restrict until),
       (condition, mutex, clock, until))
SLEEPS(int,
       sem_clockwait,
       (sem_t* restrict semaphore, clockid_t clock, const struct timespec* restrict until),
       (semaphore, clock, until))
SLEEPS(int, cnd_wait, (cnd_t * condition, mtx_t* mutex), (condition, mutex))
SLEEPS(int,
       cnd_timedwait,
       (cnd_t* restrict condition, mtx_t* restrict mutex, const struct timespec* restrict until),
       (condition, mutex, until))
SLEEPS(int, sem_wait, (sem_t * semaphore), (semaphore))
SLEEPS(int,
       sem_timedwait,
       (sem_t* restrict semaphore, const struct timespec* restrict until),
       (semaphore, until))
SLEEPS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
SLEEPS(int, pthread_join, (pthread_t thread, void** result), (thread, result))
SLEEPS(int, thrd_join, (thrd_t thread, int* result), (thread, result))

VISIBLE int sched_yield(void) {
  if (sorrel_omp_yield_1 != NULL && sorrel_omp_yield_1() != 0) return 0;
  NEXT(sched_yield);
  return next();
}

VISIBLE void thrd_yield(void) {
  (void)sched_yield();
}
