// Ten thousand communicators created, used and freed leave the process as large as a thousand did;
// so do types, groups, operations, requests and attributes.
#include <malloc.h>
#include <unistd.h>

#include "../check.h"

static long resident_bytes(void) {
  // Freed memory that the C library, or the heap of any rank, keeps is not a leak.
  malloc_trim(0);
  MPI_Barrier(MPI_COMM_WORLD);
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL);
  CHECK_EQUAL(fscanf(file, "%ld %ld", &pages, &resident), 2);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static int delete_count;

static int copy_attribute(
    MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)comm;
  (void)keyval;
  (void)extra;
  *(void**)copied = value;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  (void)extra;
  delete_count++;
  return MPI_SUCCESS;
}

static void ignore(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in;
  (void)out;
  (void)count;
  (void)type;
}

static void make_and_free(int round, int keyval) {
  MPI_Comm copy, part, grid;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request request;
  const int me = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  int value = me, sum = 0, periodic = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_attr(copy, keyval, &value);
  MPI_Comm_split(copy, me % 2, round, &part);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copy);
  CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
  MPI_Cart_create(copy, 1, &ranks, &periodic, 0, &grid);
  MPI_Comm_group(part, &group);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(ignore, 1, &op);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Comm_get_errhandler(copy, &handler);
  MPI_Irecv(&value, 1, MPI_INT, me, 0, copy, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send_init(&value, 1, type, 0, 0, part, &request);
  MPI_Request_free(&request);
  MPI_Errhandler_free(&handler);
  MPI_Info_free(&info);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  // Three communicators a round; many ranks make fewer rounds, for all of them do the same.
  const int rounds = 10000 / 3 / (ranks > 64 ? 40 : ranks > 5 ? 4 : 1);
  int keyval;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  for (int round = 0; round < rounds / 10; round++)
    make_and_free(round, keyval);
  // A byte for each object that leaks would be less than this; a leaked one has hundreds. Between
  // processes, the pages of mailboxes and pools that are touched for the first time are more.
  const long allowed = (1 << 19) + (long)ranks * 4096;
  // A leak grows in each stage. Freed chunks that a thread's cache in the C library holds on pages
  // of their own grow to a bound: then the next stage shows it. Beside jobs that come and go it
  // took six stages, as workers change their threads.
  int stages = 0, leaks = 1;
  for (; leaks && stages < 12; stages++) {
    const long before = resident_bytes();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < rounds; round++)
      make_and_free(round, keyval);
    const long growth = resident_bytes() - before;
    const int grew = growth > allowed;
    if (grew) fprintf(stderr, "%d rounds: %ld bytes more\n", rounds, growth);
    MPI_Allreduce(&grew, &leaks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  CHECK(!leaks);
  // For the duplicate; MPI_Cart_create and MPI_Comm_split copy no attributes.
  CHECK_EQUAL(delete_count, rounds / 10 + stages * rounds);
  MPI_Comm_free_keyval(&keyval);
  MPI_Finalize();
  return 0;
}
