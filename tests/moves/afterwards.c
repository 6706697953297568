// What a rank does with the C library after it has changed its process, to and fro: threads, child
// processes, results that the library keeps for it, output without a newline. The process that it
// has left does the same.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { steps = 120 };

static _Thread_local int of_thread;
static int rank;
static int failures;
static int fork_count;

static void check(int is_right, const char* what) {
  if (is_right) return;
  ++failures;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

static void* run_thread(void* argument) {
  // A thread has its own, and allocates in the rank's heap.
  char* text = of_thread == 0 ? strdup(argument) : NULL;
  of_thread = 1;
  return text;
}

/// The C library goes through its list of threads when a thread begins and ends, and in a child.
static void use_threads(void) {
  pthread_t thread;
  void* text = NULL;
  check(pthread_create(&thread, NULL, run_thread, "a text") == 0, "pthread_create");
  check(pthread_join(thread, &text) == 0, "pthread_join");
  check(text != NULL && strcmp(text, "a text") == 0, "the result of a thread");
  free(text);
}

static void before_fork(void) {
  ++fork_count;
}

static void use_children(int step) {
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    void* text = NULL;
    const int is_right = pthread_create(&thread, NULL, run_thread, "a text") == 0 &&
                         pthread_join(thread, &text) == 0 && text != NULL && of_thread == rank;
    _exit(is_right ? step % 100 : 100);
  }
  int status = 0;
  check(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
  check(WIFEXITED(status) && WEXITSTATUS(status) == step % 100, "the status of a child");
  check(fork_count == step / 10, "the handler of pthread_atfork");
}

static void use_memory(char** kept, int step) {
  // Blocks of all sizes, freed in other processes than those in which they were allocated.
  char** const place = &kept[step % 40];
  if (*place != NULL) check((*place)[0] == (char)(step - 40), "a kept block");
  free(*place);
  const size_t bytes = (size_t)1 << (step % 20);
  *place = malloc(bytes);
  memset(*place, step, bytes);
  *place = realloc(*place, bytes + 1000);
  check((*place)[bytes - 1] == (char)step, "a block that has grown");
}

/// The next number of a generator with the same state, which is the rank's own.
static int next_random(void) {
  static char state[128];
  static struct random_data generator;
  int32_t number = 0;
  if (generator.state == NULL) initstate_r((unsigned)rank, state, sizeof state, &generator);
  random_r(&generator, &number);
  return number;
}

int main(int argc, char** argv) {
  char* kept[40] = {NULL};
  int moves = 0;
  int sums[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  of_thread = rank;
  pthread_atfork(before_fork, NULL, NULL);
  const uintptr_t self = (uintptr_t)pthread_self();
  srand((unsigned)rank);
  pid_t process = getpid();
  for (int step = 1; step <= steps; ++step) {
    errno = 1000 + step;
    MPI_Barrier(MPI_COMM_WORLD);
    check(errno == 1000 + step, "errno");
    check(of_thread == rank, "a thread-local variable");
    check((uintptr_t)pthread_self() == self, "pthread_self");
    moves += process != getpid();
    process = getpid();
    use_memory(kept, step);
    if (step % 5 == 0) use_threads();
    if (step % 10 == 0) use_children(step);
    if (step % 7 == 0) check(rand() == next_random(), "rand");
  }
  for (int i = 0; i < 40; ++i)
    free(kept[i]);
  MPI_Allreduce((int[]){moves, failures}, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d moves, %d failures\n", sums[0], sums[1]);
  MPI_Finalize();
  return sums[1] != 0;
}
