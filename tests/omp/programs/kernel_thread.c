// What belongs to a kernel thread belongs to the OpenMP thread: numbers, names, signals,
// processors, time. kernel_thread THREADS
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { threads_max = 64 };

static int threads;
static pthread_t ids[threads_max];
static atomic_int handled;
static __thread int own_handled;

static void handle(int number) {
  (void)number;
  own_handled++;
  atomic_fetch_add(&handled, 1);
}

/// Whether the count of handled signals reaches `wanted` within a minute.
static int wait_for_handlers(int wanted) {
  for (int i = 0; i < 600000 && atomic_load(&handled) < wanted; i++)
    usleep(100);
  return atomic_load(&handled) == wanted;
}

static void signals_between_regions(void) {
#pragma omp parallel num_threads(threads)
  ids[omp_get_thread_num()] = pthread_self();
  handled = 0;
  for (int i = 1; i < threads; i++)
    pthread_kill(ids[i], SIGUSR1);
  printf("idle threads handle signals: %d\n", wait_for_handlers(threads - 1));
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  wrong += own_handled != (omp_get_thread_num() != 0);
  printf("by other threads than those meant: %d\n", wrong);
}

static void signals_in_a_barrier(void) {
  int are_handled = 0;
  handled = 0;
#pragma omp parallel num_threads(threads)
  {
    own_handled = 0;
    ids[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      // The others wait at the barrier that follows.
      for (int i = 1; i < threads; i++)
        pthread_kill(ids[i], SIGUSR1);
      are_handled = wait_for_handlers(threads - 1);
    }
#pragma omp barrier
    raise(SIGUSR1);
  }
  printf("waiting threads handle signals: %d\n", are_handled);
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  wrong += own_handled != 1 + (omp_get_thread_num() != 0);
  printf("raised elsewhere: %d\n", wrong);
}

static void* mask_of_new_thread(void* argument) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  *(int*)argument = sigismember(&mask, SIGUSR1) + sigismember(&mask, SIGTERM);
  return NULL;
}

static void masks(void) {
  int wrong = 0, inherited = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong, inherited)
  {
    pthread_t thread;
    int is_blocked = -1;
    pthread_create(&thread, NULL, mask_of_new_thread, &is_blocked);
    pthread_join(thread, NULL);
    inherited += is_blocked != 0;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    const int odd = omp_get_thread_num() % 2;
    pthread_sigmask(odd ? SIG_BLOCK : SIG_UNBLOCK, &mask, NULL);
#pragma omp barrier
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    wrong += sigismember(&mask, SIGUSR2) != odd;
  }
  printf("wrong masks: %d, of new threads: %d\n", wrong, inherited);
}

static void names_and_numbers(void) {
  int wrong = 0;
  static pid_t numbers[threads_max];
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
      const int number = omp_get_thread_num();
      char name[16], found[16] = "", other[16] = "";
      snprintf(name, sizeof name, "omp %d", number);
      if (round == 0) pthread_setname_np(pthread_self(), name);
      ids[number] = pthread_self();
      const pid_t own = syscall(SYS_gettid);
      wrong += own != gettid();
      if (round == 0) numbers[number] = own;
      wrong += numbers[number] != own;
#pragma omp barrier
      pthread_getname_np(pthread_self(), found, sizeof found);
      wrong += strcmp(name, found) != 0;
      prctl(PR_GET_NAME, found);
      wrong += strcmp(name, found) != 0;
      pthread_getname_np(ids[(number + 1) % threads], other, sizeof other);
      snprintf(name, sizeof name, "omp %d", (number + 1) % threads);
      wrong += strcmp(name, other) != 0;
    }
  }
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < i; j++)
      wrong += numbers[i] == numbers[j];
  printf("wrong names and numbers: %d\n", wrong);
}

static void processors(void) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int cpus[CPU_SETSIZE], count = 0, wrong = 0;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &allowed)) cpus[count++] = i;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  {
    const int cpu = cpus[omp_get_thread_num() % count];
    cpu_set_t set, found;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    wrong += pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0;
    for (int i = 0; i < 20; i++) {
      wrong += sched_getcpu() != cpu;
#pragma omp barrier
    }
    wrong += sched_getaffinity(0, sizeof found, &found) != 0 || !CPU_EQUAL(&set, &found);
    wrong += sched_setaffinity(0, sizeof allowed, &allowed) != 0;
  }
  printf("wrong processors: %d\n", wrong);
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void times(void) {
  int wrong = 0;
  double work[threads_max];
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  {
    const int number = omp_get_thread_num();
    ids[number] = pthread_self();
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    const double began = seconds(CLOCK_THREAD_CPUTIME_ID);
    const double wanted = number == threads - 1 ? 0.05 : 0.001;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) - began < wanted) {
    }
    work[number] = seconds(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_THREAD, &after);
    const double used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                        (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                        1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                        1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    wrong += used < wanted - 0.02;
#pragma omp barrier
    clockid_t clock;
    const int other = (number + 1) % threads;
    wrong += pthread_getcpuclockid(ids[other], &clock) != 0 || seconds(clock) < work[other];
  }
  printf("wrong times: %d\n", wrong);
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

// Threads with kernel threads of their own do all that others do.
static void constructs(void) {
  long sum = 0, from_tasks = 0, nested = 0, kept_errno = 0;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 30; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum, nested, kept_errno)
    {
      if (omp_get_thread_num() % 3 == 1) (void)gettid();
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < 500; i++)
        sum += i;
#pragma omp single
      from_tasks += fibonacci(12);
      errno = round + 1;
#pragma omp barrier
      kept_errno += errno == round + 1;
#pragma omp critical
      sum++;
      if (omp_get_thread_num() == threads - 1) {
#pragma omp parallel num_threads(2) reduction(+ : nested)
        nested += 1 + 0 * gettid();
      }
    }
    if (round == 20) omp_pause_resource_all(omp_pause_hard);
  }
  printf("sum %ld, tasks %ld, nested %ld, errno kept %d\n", sum, from_tasks, nested,
         kept_errno == 30L * threads);
}

static void* team_of_new_thread(void* argument) {
  long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  sum += gettid() != getpid();
  *(long*)argument = sum;
  return NULL;
}

int main(int count, char** arguments) {
  threads = count > 1 ? atoi(arguments[1]) : 4;
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGUSR1, &action, NULL);
  signals_between_regions();
  signals_in_a_barrier();
  masks();
  names_and_numbers();
  processors();
  times();
  constructs();
  pthread_t thread;
  long sum = 0;
  pthread_create(&thread, NULL, team_of_new_thread, &sum);
  pthread_join(thread, NULL);
  printf("the team of a new thread: %ld\n", sum);
  return 0;
}
