/* Functions whose last action is a call of the C library: compiled as a jump, after which the
   caller's address is not the program's. What they set must be the rank's all the same. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int own;
static pthread_t thread;
static pthread_key_t key;
static void* found;
static void* found_by_second;

static void* find_second(void* unused) {
  (void)unused;
  found_by_second = dlsym(RTLD_DEFAULT, "own");
  return NULL;
}

static pthread_t second;

/* The first action is to look; the last one starts another thread. */
static void* find_own(void* unused) {
  found = dlsym(RTLD_DEFAULT, "own");
  return (void*)(long)pthread_create(&second, NULL, find_second, unused);
}

static void on_signal(int number) {
  own = number;
}

static void on_second_signal(int number) {
  own = -number;
}

__attribute__((constructor(1001))) static void set_signal(void) {
  signal(SIGUSR1, on_signal);
}

__attribute__((constructor(1002))) static void make_thread(void) {
  pthread_create(&thread, NULL, find_own, NULL);
}

__attribute__((constructor(1003))) static void make_key(void) {
  pthread_key_create(&key, NULL);
}

static void change_signal(int number) {
  (void)number;
  signal(SIGUSR1, on_second_signal);
}

static void* handler_of(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  return (void*)action.sa_handler;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_join(thread, NULL);
  pthread_join(second, NULL);
  int is_right = found == &own && found_by_second == &own;
  if (!is_right) printf("rank %d: a thread belongs to no rank\n", rank);
  if (handler_of(SIGUSR1) != (void*)on_signal) is_right = 0;
  raise(SIGUSR1);
  if (own != SIGUSR1) is_right = 0;
  signal(SIGUSR2, change_signal);
  raise(SIGUSR2);
  if (handler_of(SIGUSR1) != (void*)on_second_signal) is_right = 0;
  pthread_setspecific(key, &own);
  MPI_Barrier(MPI_COMM_WORLD);
  if (pthread_getspecific(key) != &own) is_right = 0;
  printf("last calls of rank %d are %s\n", rank, is_right ? "its own" : "wrong");
  MPI_Finalize();
  return 0;
}
