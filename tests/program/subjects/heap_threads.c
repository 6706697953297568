// heap_threads ROUNDS: in every rank four threads and the rank itself allocate, enlarge and free
// each other's blocks, while the rank and a thread fork children that allocate, too. The last
// thread of each rank leaves a block of 7 MiB. Prints one line for each rank.
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { thread_count = 4, slot_count = 64, step_count = 3000, left_bytes = 7 << 20 };

struct block {
  size_t bytes;
  unsigned char fill;
  unsigned char rest[];
};

static int rank;
static _Atomic(struct block*) slots[slot_count];
// The compiler must not remove pairs of malloc and free.
static void* (*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void*) = free;

static void fail(const char* what) {
  printf("rank %d: %s\n", rank, what);
  fflush(stdout);
  abort();
}

static unsigned draw(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void check(const struct block* block, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 61)
    if (block->rest[i] != block->fill) fail("a block was overwritten");
  if (malloc_usable_size((void*)block) < sizeof *block + block->bytes) fail("a block is too small");
}

static struct block* make(unsigned* state) {
  const unsigned kind = draw(state) % 16;
  const size_t bytes = draw(state) % (kind == 0 ? 200000 : kind < 4 ? 5000 : 200);
  struct block* block = NULL;
  switch (draw(state) % 4) {
    case 0:
      block = calloc(1, sizeof *block + bytes);
      for (size_t i = 0; i < bytes; i += 61)
        if (block->rest[i] != 0) fail("memory of calloc is not zero");
      break;
    case 1:
      if (posix_memalign((void**)&block, 64u << draw(state) % 6, sizeof *block + bytes) != 0)
        fail("posix_memalign");
      break;
    default:
      block = allocate(sizeof *block + bytes);
  }
  block->bytes = bytes;
  block->fill = (unsigned char)draw(state);
  memset(block->rest, block->fill, bytes);
  return block;
}

static struct block* enlarge(struct block* block, unsigned* state) {
  const size_t before = block->bytes;
  const size_t bytes = before + draw(state) % 3000;
  block = realloc(block, sizeof *block + bytes);
  check(block, before);
  block->bytes = bytes;
  memset(block->rest, block->fill, bytes);
  return block;
}

// Blocks pass from thread to thread through the slots.
static void work(unsigned* state, int steps) {
  for (int step = 0; step < steps; ++step) {
    struct block* block = make(state);
    if (draw(state) % 4 == 0) block = enlarge(block, state);
    block = atomic_exchange(&slots[draw(state) % slot_count], block);
    if (block == NULL) continue;
    check(block, block->bytes);
    if (draw(state) % 4 == 0) block = enlarge(block, state);
    release(block);
    if (draw(state) % 1000 == 0) malloc_trim(0);
  }
}

static void fork_a_child(unsigned* state) {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    alarm(20);
    work(state, 200);
    _exit(0);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) fail("a child failed");
}

static void* run(void* argument) {
  unsigned state = (unsigned)(size_t)argument;
  for (int i = 0; i < 4; ++i) {
    work(&state, step_count / 4);
    if (state % 2 == 0) fork_a_child(&state);
  }
  return NULL;
}

static void* allocate_for_good(void* argument) {
  (void)argument;
  void* block = allocate(left_bytes);
  memset(block, 1, left_bytes);
  return block;
}

int main(int argc, char** argv) {
  const int rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned state = (unsigned)rank + 7;
  for (int round = 0; round < rounds; ++round) {
    // Alone, then with threads, then alone again.
    work(&state, step_count);
    pthread_t threads[thread_count];
    for (size_t t = 0; t < thread_count; ++t)
      if (pthread_create(&threads[t], NULL, run, (void*)(draw(&state) + t)) != 0) fail("no thread");
    for (int i = 0; i < 4; ++i) {
      work(&state, step_count / 4);
      fork_a_child(&state);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int t = 0; t < thread_count; ++t)
      pthread_join(threads[t], NULL);
  }
  for (int i = 0; i < slot_count; ++i)
    release(slots[i]);
  pthread_t last;
  void* left = NULL;
  if (pthread_create(&last, NULL, allocate_for_good, NULL) != 0) fail("no thread");
  pthread_join(last, &left);
  printf("threads of rank %d allocate\n", rank);
  MPI_Finalize();
  // Used until the end.
  return left == NULL;
}
