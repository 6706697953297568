// The C library of the chain: data, constructors, a resolver, thread-locals, keys, threads.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain.h"

static int counter = 100;
int chain_exported = 7;
int* const chain_table[2] = {&chain_exported, &counter};
static _Thread_local int thread_local_value = 42;
static _Thread_local int* thread_local_pointer = &counter;
static int constructed;

__attribute__((constructor)) static void construct(void) {
  constructed += counter;
}

int chain_constructed(void) {
  return constructed;
}

int chain_count(void) {
  return ++counter;
}

static int own_counter(void) {
  return counter;
}

static int nothing(void) {
  return -1;
}

static int (*resolve(void))(void) {
  return constructed == 0 ? own_counter : nothing;
}

int chain_resolved(void) __attribute__((ifunc("resolve")));

__attribute__((weak)) int chain_hook(void) {
  return -1;
}

int chain_calls_hook(void) {
  return chain_hook();
}

int* chain_thread_local(void) {
  return &thread_local_value;
}

int** chain_thread_local_pointer(void) {
  return &thread_local_pointer;
}

int chain_key_works(void) {
  static pthread_key_t key;
  static int is_made;
  if (!is_made) is_made = pthread_key_create(&key, NULL) == 0;
  return is_made && pthread_setspecific(key, &counter) == 0 && pthread_getspecific(key) == &counter;
}

static void* compare(void* of_rank) {
  return thread_local_value == 42 && thread_local_pointer == of_rank ? of_rank : NULL;
}

int chain_started_thread_agrees(void) {
  pthread_t thread;
  void* result = NULL;
  return pthread_create(&thread, NULL, compare, &counter) == 0 &&
         pthread_join(thread, &result) == 0 && result == &counter;
}

static int forked;

static void count_fork(void) {
  ++forked;
}

int chain_runs_own_fork_handlers(void) {
  int status = 0;
  if (pthread_atfork(count_fork, count_fork, count_fork) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) _exit(forked == 2 ? 17 : 1);
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 17 && forked == 2;
}

void chain_at_exit(void (*handler)(void)) {
  atexit(handler);
}
