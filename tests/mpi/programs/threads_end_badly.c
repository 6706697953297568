// Jobs whose threads end them, or keep them from ending. The argument is the case.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../check.h"

static int rank;
static atomic_int is_waiting;

static void* meet(void* unused) {
  (void)unused;
  MPI_Barrier(MPI_COMM_SELF);
  return NULL;
}

static void* ask_for_no_type(void* unused) {
  (void)unused;
  int size;
  MPI_Type_size(MPI_DATATYPE_NULL, &size);
  return NULL;
}

static void* wait_for_ever(void* unused) {
  (void)unused;
  int value;
  atomic_store(&is_waiting, 1);
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return NULL;
}

static void* abort_job(void* unused) {
  (void)unused;
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  return wait_for_ever(NULL);
}

static void* crash(void* unused) {
  (void)unused;
  if (rank == 1) *(volatile int*)8 = 0;
  return wait_for_ever(NULL);
}

static void* sleep_and_send(void* unused) {
  (void)unused;
  sleep(1);
  MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int is_funneled = strcmp(what, "level") == 0 || strcmp(what, "reads") == 0;
  int provided;
  MPI_Init_thread(&argc, &argv, is_funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* (*run)(void*) = wait_for_ever;
  if (strcmp(what, "level") == 0) run = meet;
  if (strcmp(what, "reads") == 0) run = ask_for_no_type;
  if (strcmp(what, "abort") == 0) run = abort_job;
  if (strcmp(what, "crash") == 0) run = crash;
  if (strcmp(what, "sleep") == 0) run = sleep_and_send;
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, run, NULL), 0);
  if (is_funneled) pthread_join(thread, NULL);
  int value = -1;
  if (strcmp(what, "finalize") == 0) {
    // Until the thread is about to wait, and a while longer.
    while (!atomic_load(&is_waiting))
      usleep(1000);
    usleep(300000);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(what, "sleep") == 0) {
    MPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, rank);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
  }
  MPI_Recv(&value, 1, MPI_INT, 1 - rank, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 1;
}
