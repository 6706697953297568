// A signal that several threads of a rank wait for is taken by one of them. Threads look for it
// without a pause while the rank sends it again and again: no more are taken than were sent.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { thread_count = 3, sent_count = 2000 };

static sigset_t awaited;
static atomic_int taken;
static atomic_bool is_over;

static void* take(void* unused) {
  const struct timespec no_time = {0, 0};
  while (!is_over) {
    if (sigtimedwait(&awaited, NULL, &no_time) == SIGUSR1) ++taken;
  }
  return unused;
}

static int is_pending(void) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGUSR1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i)
    pthread_create(&threads[i], NULL, take, NULL);
  for (int i = 0; i < sent_count; ++i) {
    kill(getpid(), SIGUSR1);
    while (is_pending()) {
    }
  }
  is_over = 1;
  for (int i = 0; i < thread_count; ++i)
    pthread_join(threads[i], NULL);
  if (taken == sent_count)
    printf("rank %d: each signal was taken once\n", rank);
  else
    printf("rank %d: %d signals of %d were taken\n", rank, taken, sent_count);
  MPI_Finalize();
  return taken != sent_count;
}
