// The main thread ends by pthread_exit() after a region: the process ends with its last thread.
// main_exit THREADS alone|worker|signal
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t main_thread;
static int is_signalled;
static int thread_count;

static int sum_of_team(void) {
  int sum = 0;
#pragma omp parallel num_threads(thread_count) reduction(+ : sum)
  sum += omp_get_thread_num() + 1;
  return sum;
}

static void say_end(void) {
  printf("the last thread has ended\n");
  fflush(stdout);
}

static void* work(void* argument) {
  // Returns when the main thread has ended.
  pthread_join(main_thread, NULL);
  if (is_signalled) {
    kill(getpid(), SIGTERM);
    for (;;)
      pause();
  }
  const int wanted = thread_count * (thread_count + 1) / 2;
  if (sum_of_team() != wanted || sum_of_team() != wanted) _exit(3);
  return argument;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  thread_count = atoi(arguments[1]);
  is_signalled = strcmp(arguments[2], "signal") == 0;
  main_thread = pthread_self();
  atexit(say_end);
  if (sum_of_team() != thread_count * (thread_count + 1) / 2) return 4;
  if (strcmp(arguments[2], "alone") != 0) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_detach(worker);
  }
  pthread_exit(NULL);
}
