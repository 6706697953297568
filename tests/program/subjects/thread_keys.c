// Keys of thread-specific values: more in all ranks together than a process has, with values of
// ranks and of threads.
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { key_count = 20 };

static pthread_key_t keys[key_count];
static int rank, ended, faults;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static void end(void* value) {
  check(*(int*)value == 7, "value at the end of a thread");
  ++ended;
}

static void* work(void* argument) {
  check(pthread_getspecific(keys[0]) == NULL, "a new thread's value");
  check(pthread_setspecific(keys[0], argument) == 0 && pthread_getspecific(keys[0]) == argument,
        "a thread's value");
  return NULL;
}

static void end_of_main(void* value) {
  if (*(int*)value == rank && faults == 0) printf("keys of rank %d are its own\n", rank);
}

int main(int argc, char** argv) {
  static int seven = 7, values[key_count];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < key_count; ++i) {
    check(pthread_key_create(&keys[i], i == 0 ? end : NULL) == 0, "pthread_key_create");
    values[i] = 100 * rank + i;
    check(pthread_getspecific(keys[i]) == NULL, "a new key's value");
    check(pthread_setspecific(keys[i], &values[i]) == 0, "pthread_setspecific");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < key_count; ++i) {
    const int* value = pthread_getspecific(keys[i]);
    check(value == &values[i] && *value == 100 * rank + i, "value");
  }
  pthread_t thread;
  pthread_create(&thread, NULL, work, &seven);
  pthread_join(thread, NULL);
  check(ended == 1, "destructor of a thread");
  check(pthread_getspecific(keys[0]) == &values[0], "value after a thread");
  check(pthread_key_delete(keys[3]) == 0 && pthread_getspecific(keys[3]) == NULL,
        "pthread_key_delete");
  check(pthread_setspecific(keys[3], &seven) == EINVAL, "a key that is gone");
  check(pthread_key_create(&keys[3], end_of_main) == 0 && pthread_getspecific(keys[3]) == NULL,
        "a key once more");
  check(pthread_setspecific(keys[0], NULL) == 0, "no value");
  pthread_setspecific(keys[3], &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  pthread_exit(NULL);
}
