// The tool information interface belongs to the rank, whichever of its threads calls: a handle that
// the main thread has allocated, read by others; events of messages that any thread sends.
#include <pthread.h>

#include "../check.h"

enum { thread_count = 4, message_count = 50 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle unexpected;
static MPI_Comm comm;
static int rank, event_count;

// One at a time, as the library runs it at the end of a call.
static void on_event(MPI_T_event_instance instance,
                     MPI_T_event_registration registration,
                     MPI_T_cb_safety safety,
                     void* data) {
  int source = -1;
  (void)registration, (void)safety;
  CHECK_EQUAL(MPI_T_event_read(instance, 0, &source), MPI_SUCCESS);
  CHECK_EQUAL(source, rank);
  ++*(int*)data;
}

static void* send_to_self(void* argument) {
  const int tag = (int)(intptr_t)argument;
  unsigned long long value = 0;
  int provided = -1, i;
  CHECK_EQUAL(MPI_T_pvar_read(session, unexpected, &value), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  for (i = 0; i < message_count; i++)
    MPI_Send(&i, 1, MPI_INT, rank, tag, comm);
  CHECK_EQUAL(MPI_T_pvar_read(session, unexpected, &value), MPI_SUCCESS);
  CHECK(value >= message_count);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  return NULL;
}

int main(int argc, char** argv) {
  MPI_T_event_registration registration;
  pthread_t threads[thread_count];
  int provided = -1, index = -1, elements, value, i, j;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  rank = rank_in(comm);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_index("sorrel_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &index);
  MPI_T_pvar_handle_alloc(session, index, NULL, &unexpected, &elements);
  MPI_T_event_get_index("sorrel_unexpected_message", &index);
  MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
  MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &event_count,
                                on_event);
  for (i = 0; i < thread_count; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, send_to_self, (void*)(intptr_t)i), 0);
  for (i = 0; i < thread_count; i++)
    pthread_join(threads[i], NULL);
  for (i = 0; i < thread_count; i++)
    for (j = 0; j < message_count; j++)
      MPI_Recv(&value, 1, MPI_INT, rank, i, comm, MPI_STATUS_IGNORE);
  CHECK_EQUAL(event_count, thread_count * message_count);
  CHECK_EQUAL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
