// A library of its own, libsorrel-threads.so.0, which `sorrel run --omp` preloads for programs
// without MPI: functions of the C library that ask for something of the calling kernel thread, or
// of that of another thread. An OpenMP thread that calls one of them, or that is named as the other
// thread, has a kernel thread of its own from then on (omp/sched/own_thread.hpp). Then the C
// library's function is called.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "omp/threads/next.h"

// Defined in the OpenMP library. Without it nothing is changed.
__attribute__((weak)) void sorrel_omp_claim_own_thread_1(void);
__attribute__((weak)) void sorrel_omp_request_own_thread_1(pthread_t thread);

static void claim(void) {
  if (sorrel_omp_claim_own_thread_1 != NULL) sorrel_omp_claim_own_thread_1();
}

static void request_own_thread(pthread_t thread) {
  if (sorrel_omp_request_own_thread_1 != NULL) sorrel_omp_request_own_thread_1(thread);
}

// A function that concerns the caller.
#define OF_CALLER(Result, name, parameters, arguments) \
  VISIBLE Result name parameters {                     \
    claim();                                           \
    NEXT(name);                                        \
    return next arguments;                             \
  }

// A function that concerns the parameter `thread`.
#define OF_THREAD(name, parameters, arguments) \
  VISIBLE int name parameters {                \
    request_own_thread(thread);                \
    NEXT(name);                                \
    return next arguments;                     \
  }

OF_CALLER(pid_t, gettid, (void), ())
OF_CALLER(int,
          pthread_sigmask,
          (int how, const sigset_t* restrict set, sigset_t* restrict before),
          (how, set, before))
OF_CALLER(int,
          sigprocmask,
          (int how, const sigset_t* restrict set, sigset_t* restrict before),
          (how, set, before))
OF_CALLER(int,
          sigaltstack,
          (const stack_t* restrict stack, stack_t* restrict before),
          (stack, before))
OF_CALLER(int, raise, (int number), (number))
OF_CALLER(int,
          sched_setaffinity,
          (pid_t thread, size_t bytes, const cpu_set_t* cpus),
          (thread, bytes, cpus))
OF_CALLER(int,
          sched_getaffinity,
          (pid_t thread, size_t bytes, cpu_set_t* cpus),
          (thread, bytes, cpus))

// New threads and processes inherit the caller's signal mask.
OF_CALLER(int,
          pthread_create,
          (pthread_t* restrict thread,
           const pthread_attr_t* restrict attributes,
           void* (*entry)(void*),
           void* restrict argument),
          (thread, attributes, entry, argument))
OF_CALLER(pid_t, fork, (void), ())
OF_CALLER(int, system, (const char* command), (command))
OF_CALLER(FILE*, popen, (const char* command, const char* mode), (command, mode))
OF_CALLER(int,
          posix_spawn,
          (pid_t* restrict process,
           const char* restrict path,
           const posix_spawn_file_actions_t* restrict actions,
           const posix_spawnattr_t* restrict attributes,
           char* const* restrict arguments,
           char* const* restrict variables),
          (process, path, actions, attributes, arguments, variables))
OF_CALLER(int,
          posix_spawnp,
          (pid_t* restrict process,
           const char* restrict file,
           const posix_spawn_file_actions_t* restrict actions,
           const posix_spawnattr_t* restrict attributes,
           char* const* restrict arguments,
           char* const* restrict variables),
          (process, file, actions, attributes, arguments, variables))

OF_THREAD(pthread_kill, (pthread_t thread, int number), (thread, number))
OF_THREAD(pthread_sigqueue,
          (pthread_t thread, int number, const union sigval value),
          (thread, number, value))
OF_THREAD(pthread_setname_np, (pthread_t thread, const char* name), (thread, name))
OF_THREAD(pthread_getname_np, (pthread_t thread, char* name, size_t bytes), (thread, name, bytes))
OF_THREAD(pthread_setaffinity_np,
          (pthread_t thread, size_t bytes, const cpu_set_t* cpus),
          (thread, bytes, cpus))
OF_THREAD(pthread_getaffinity_np,
          (pthread_t thread, size_t bytes, cpu_set_t* cpus),
          (thread, bytes, cpus))
OF_THREAD(pthread_getcpuclockid, (pthread_t thread, clockid_t* clock), (thread, clock))
OF_THREAD(pthread_setschedparam,
          (pthread_t thread, int policy, const struct sched_param* parameters),
          (thread, policy, parameters))
OF_THREAD(pthread_getschedparam,
          (pthread_t thread, int* restrict policy, struct sched_param* restrict parameters),
          (thread, policy, parameters))

VISIBLE int clock_gettime(clockid_t clock, struct timespec* time) {
  if (clock == CLOCK_THREAD_CPUTIME_ID) claim();
  NEXT(clock_gettime);
  return next(clock, time);
}

VISIBLE int getrusage(__rusage_who_t who, struct rusage* usage) {
  if ((int)who == RUSAGE_THREAD) claim();
  NEXT(getrusage);
  return next(who, usage);
}

// More arguments than are passed do no harm.
VISIBLE int prctl(int option, ...) {
  claim();
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (int i = 0; i < 4; i++)
    words[i] = va_arg(list, unsigned long);
  va_end(list);
  NEXT(prctl);
  return next(option, words[0], words[1], words[2], words[3]);
}

VISIBLE long syscall(long number, ...) {
  if (number == SYS_gettid || number == SYS_sched_setaffinity || number == SYS_sched_getaffinity ||
      number == SYS_perf_event_open)
    claim();
  va_list list;
  va_start(list, number);
  long words[6];
  for (int i = 0; i < 6; i++)
    words[i] = va_arg(list, long);
  va_end(list);
  NEXT(syscall);
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
