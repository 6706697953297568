// MPI_Init_thread at each level, given as an argument; MPI_Query_thread and MPI_Is_thread_main on
// every thread. At MPI_THREAD_SERIALIZED threads take turns; further down only the main one
// communicates, and others read objects.
#include <pthread.h>

#include "../check.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int rank, size, level;

/// Calls that are allowed at every level.
static void read_objects(void) {
  int number = -1;
  MPI_Query_thread(&number);
  CHECK_EQUAL(number, level);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  CHECK_EQUAL(number, rank);
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  CHECK_EQUAL(number, size);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &number);
  CHECK_EQUAL(number, MPI_IDENT);
  MPI_Topo_test(MPI_COMM_WORLD, &number);
  CHECK_EQUAL(number, MPI_UNDEFINED);
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &number);
  CHECK_EQUAL(strcmp(name, "MPI_COMM_WORLD"), 0);
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_rank(group, &number);
  CHECK_EQUAL(number, rank);
  MPI_Group_size(group, &number);
  CHECK_EQUAL(number, size);
  MPI_Group_free(&group);
  MPI_Type_size(MPI_DOUBLE, &number);
  CHECK_EQUAL(number, 8);
  MPI_Aint lower, extent;
  MPI_Type_get_extent(MPI_INT, &lower, &extent);
  CHECK_EQUAL((int)extent, 4);
  MPI_Status status;
  memset(&status, 0, sizeof status);
  MPI_Status_set_elements(&status, MPI_INT, 3);
  MPI_Get_count(&status, MPI_SHORT, &number);
  CHECK_EQUAL(number, 6);
  MPI_Op_commutative(MPI_SUM, &number);
  CHECK_EQUAL(number, 1);
  int dims[2] = {0, 3};
  MPI_Dims_create(6, 2, dims);
  CHECK_EQUAL(dims[0], 2);
  void* memory = NULL;
  MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
  memset(memory, 1, 64);
  MPI_Free_mem(memory);
  MPI_Error_string(MPI_ERR_RANK, name, &number);
  CHECK_EQUAL(MPI_Wtime() > 0 && MPI_Wtick() > 0, 1);
  // The main thread has set MPI_ERRORS_RETURN.
  CHECK_EQUAL(MPI_Type_size(MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
  CHECK_EQUAL(MPI_Comm_size(MPI_COMM_NULL, &number), MPI_ERR_COMM);
}

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
  if (level < MPI_THREAD_SERIALIZED) {
    for (int round = 0; round < 20; ++round)
      read_objects();
    return NULL;
  }
  pthread_mutex_lock(&turn);
  read_objects();
  pthread_mutex_unlock(&turn);
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
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
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
