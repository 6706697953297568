// Queries that are allowed before MPI_Init and after MPI_Finalize; callbacks on MPI_COMM_SELF run
// at MPI_Finalize, where MPI still works; the clock never runs backwards; every rank has its own
// arguments, name and thread level.
#include <string.h>

#include "../check.h"

static int callback_order[2], callback_count, was_finalized_in_callback = -1;

static int note_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)extra;
  callback_order[callback_count++] = (int)(intptr_t)value;
  MPI_Finalized(&was_finalized_in_callback);
  int size = 0;
  MPI_Comm_size(MPI_COMM_SELF, &size);
  return size == 1 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  int flag = -1, provided = -1, level = -1, version, subversion, length, keys[2];
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  if (flag != 0) return fail("initialized before MPI_Init");
  MPI_Finalized(&flag);
  if (flag != 0) return fail("finalized before MPI_Init");
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  if (version < 5 || (int)strlen(text) != length) return fail("no version before MPI_Init");

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(argc >= 1 && argv[0] != NULL);
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  MPI_Query_thread(&level);
  CHECK_EQUAL(level, provided);
  MPI_Is_thread_main(&flag);
  CHECK_EQUAL(flag, 1);
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 1);
  MPI_Finalized(&flag);
  CHECK_EQUAL(flag, 0);

  double last = MPI_Wtime();
  CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
  for (int i = 0; i < 2000; i++) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
    if (i % 500 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Get_processor_name(text, &length);
  CHECK_EQUAL(strlen(text), length);

  // In the reverse of the order in which they were set.
  for (int i = 0; i < 2; i++) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_end, &keys[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void*)(intptr_t)(i + 1));
  }
  MPI_Finalize();
  if (callback_count != 2 || callback_order[0] != 2 || callback_order[1] != 1)
    return fail("callbacks on MPI_COMM_SELF did not run, or in the wrong order");
  if (was_finalized_in_callback != 0) return fail("finalized during the callbacks");
  MPI_Initialized(&flag);
  if (flag != 1) return fail("not initialized after MPI_Finalize");
  MPI_Finalized(&flag);
  if (flag != 1) return fail("not finalized after MPI_Finalize");
  MPI_Get_version(&version, &subversion);
  return 0;
}
