// MPI_Init_thread at each level, given as an argument; MPI_Query_thread and MPI_Is_thread_main on
// every thread. At MPI_THREAD_SERIALIZED threads take turns; further down only the main one calls.
#include <pthread.h>

#include "../check.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int rank, size, level;

static void* take_turns(void* argument) {
  const int index = (int)(intptr_t)argument;
  int is_main = -1;
  MPI_Is_thread_main(&is_main);
  CHECK_EQUAL(is_main, 0);
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  CHECK_EQUAL(is_initialized, 1);
  int is_finalized = 1;
  MPI_Finalized(&is_finalized);
  CHECK_EQUAL(is_finalized, 0);
  if (level < MPI_THREAD_SERIALIZED) return NULL;
  for (int round = 0; round < 20; ++round) {
    pthread_mutex_lock(&turn);
    int queried = -1;
    MPI_Query_thread(&queried);
    CHECK_EQUAL(queried, level);
    const int sent = rank + round;
    int received = -1;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, rank, index, MPI_COMM_WORLD, &request);
    MPI_Send(&sent, 1, MPI_INT, rank, index, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(received, sent);
    pthread_mutex_unlock(&turn);
  }
  return NULL;
}

static pthread_mutex_t begun = PTHREAD_MUTEX_INITIALIZER;

static void* wait_and_take_turns(void* argument) {
  (void)argument;
  pthread_mutex_lock(&begun);
  pthread_mutex_unlock(&begun);
  return take_turns((void*)(intptr_t)9);
}

int main(int argc, char** argv) {
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                        MPI_THREAD_MULTIPLE};
  level = levels[argc > 1 ? atoi(argv[1]) : 3];
  // A thread that has started before MPI_Init_thread may call MPI after it.
  pthread_t early;
  pthread_mutex_lock(&begun);
  CHECK_EQUAL(pthread_create(&early, NULL, wait_and_take_turns, NULL), 0);
  int provided = -1;
  MPI_Init_thread(&argc, &argv, level, &provided);
  CHECK_EQUAL(provided, level);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  int is_main = -1;
  MPI_Is_thread_main(&is_main);
  CHECK_EQUAL(is_main, 1);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, take_turns, (void*)(intptr_t)i), 0);
  pthread_mutex_unlock(&begun);
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], NULL);
  pthread_join(early, NULL);
  MPI_Is_thread_main(&is_main);
  CHECK_EQUAL(is_main, 1);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Finalize();
  return 0;
}
