// A job that goes on until a file exists: `activity FILE
// [handler|handler_until_file|allocates|traffic]`.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { livelock_tag = 4, awaited_tag = 5 };

static const char* file;
static volatile sig_atomic_t handled;

static void count(int number) {
  (void)number;
  ++handled;
}

static void compute_until_file(void) {
  static volatile double sum;
  do {
    for (int i = 0; i < 1000000; ++i)
      sum += i;
  } while (access(file, F_OK) != 0);
}

static void test_until_message(void) {
  int value, done = 0;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, 0, livelock_tag, MPI_COMM_WORLD, &request);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void sleep_until_file(void) {
  while (access(file, F_OK) != 0) {
    if (sleep(1) != 0) fprintf(stderr, "a sleep was cut short\n");
  }
}

static void wait_for_handler(int goes_on_until_file) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (handled == 0 && !(goes_on_until_file && access(file, F_OK) == 0))
    nanosleep(&pause, NULL);
  if (handled != 0 && goes_on_until_file) fprintf(stderr, "the handler was called\n");
}

/* Each rank sends messages of 4 KiB to the next one; rank 0 decides when they end. */
static void exchange_until_file(int me, int ranks) {
  static char out[4096], in[4096];
  int is_end = 0;
  while (!is_end) {
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (me + 1) % ranks, 1, in, sizeof in, MPI_CHAR,
                 (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0) is_end = access(file, F_OK) == 0;
    MPI_Bcast(&is_end, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const int has_handler = argc > 2 && strncmp(argv[2], "handler", 7) == 0;
  int me, ranks, value = 0;
  file = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (has_handler) signal(SIGUSR1, count);
  if (argc > 2 && strcmp(argv[2], "allocates") == 0) {
    char* volatile block = malloc((size_t)(me + 1) << 20);
    block[0] = 1;
    if (me == 1) free(block);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  if (argc > 2 && strcmp(argv[2], "traffic") == 0) {
    exchange_until_file(me, ranks);
  } else if (has_handler) {
    wait_for_handler(strcmp(argv[2], "handler_until_file") == 0);
  } else if (me == 0) {
    compute_until_file();
    MPI_Send(&value, 1, MPI_INT, 1, livelock_tag, MPI_COMM_WORLD);
    if (ranks > 2) MPI_Send(&value, 1, MPI_INT, 2, awaited_tag, MPI_COMM_WORLD);
  } else if (me == 1) {
    test_until_message();
  } else if (me == 2) {
    MPI_Recv(&value, 1, MPI_INT, 0, awaited_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (me == 3) {
    sleep_until_file();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
