// A rank that ends by pthread_exit() waits for the threads that it has started, with all
// destructors of their thread-specific values: those of keys that were made before and after the
// first thread, and of values that a destructor sets again. They are of the rank: they use its
// memory.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { key_count = 4, block_bytes = 100 };

static pthread_key_t keys[key_count];
static atomic_int ended_count;
static int rank;

static void pause_shortly(void) {
  const struct timespec pause = {0, 100000000};
  nanosleep(&pause, NULL);
}

static void end_value(void* value) {
  pause_shortly();
  free(value);
  // The block is of the heap of the rank that has started the thread.
  char* block = malloc(block_bytes);
  block[0] = 1;
  free(block);
  ++ended_count;
}

static void end_value_again(void* value) {
  pthread_setspecific(keys[key_count - 1], value);
}

static void* set_values(void* unused) {
  for (int i = 0; i < key_count - 1; ++i)
    pthread_setspecific(keys[i], malloc(block_bytes));
  return unused;
}

static void* do_nothing(void* unused) {
  return unused;
}

static void say(void) {
  if (ended_count == key_count - 1)
    printf("rank %d: the thread had ended\n", rank);
  else
    printf("rank %d: the thread had %d of %d destructors to run\n", rank,
           key_count - 1 - ended_count, key_count - 1);
}

int main(int argc, char** argv) {
  pthread_t first;
  pthread_attr_t detached;
  pthread_t thread;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  atexit(say);
  pthread_key_create(&keys[0], end_value);
  pthread_create(&first, NULL, do_nothing, NULL);
  pthread_join(first, NULL);
  pthread_key_create(&keys[1], end_value);
  // Its value is handed to the last key.
  pthread_key_create(&keys[2], end_value_again);
  pthread_key_create(&keys[3], end_value);
  MPI_Finalize();
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_create(&thread, &detached, set_values, NULL);
  pthread_exit(NULL);
}
