// In a job without places for further ranks, spawning fails with its class, on the handler of the
// communicator that it gets; there is no parent, and disconnecting frees a communicator.
#include "spawn.h"

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static int errors_seen = 0;

static void count_error(MPI_Comm* comm, int* error, ...) {
  int length = 0;
  char text[MPI_MAX_ERROR_STRING];
  CHECK(*comm != MPI_COMM_SELF && *comm != MPI_COMM_NULL);
  CHECK_EQUAL(MPI_Error_string(*error, text, &length), MPI_SUCCESS);
  errors_seen++;
}

static void spawns(MPI_Comm comm) {
  const int root = size_of(comm) - 1, is_root = rank_in(comm) == root;
  int errors[3] = {-1, -1, -1}, counts[2] = {1, 2}, i;
  char* commands[2] = {"a", "b"};
  MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm made = MPI_COMM_WORLD;
  REFUSED(MPI_Comm_spawn("program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, root, comm, &made, errors),
          MPI_ERR_SPAWN);
  CHECK(made == MPI_COMM_NULL);
  for (i = 0; i < 3; i++)
    CHECK_EQUAL(errors[i], i < 2 ? MPI_ERR_SPAWN : -1);
  // Significant at the root only.
  REFUSED(MPI_Comm_spawn(is_root ? "program" : NULL, MPI_ARGV_NULL, is_root ? 1 : -1, MPI_INFO_NULL,
                         root, comm, &made, MPI_ERRCODES_IGNORE),
          MPI_ERR_SPAWN);
  REFUSED(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, root, comm, &made,
                                  errors),
          MPI_ERR_SPAWN);
  for (i = 0; i < 3; i++)
    CHECK_EQUAL(errors[i], MPI_ERR_SPAWN);
  CHECK_EQUAL(errors_seen, 3);
  // Wrong arguments have their own class.
  if (size_of(comm) == 1) {
    REFUSED(MPI_Comm_spawn(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &made, errors),
            MPI_ERR_ARG);
    REFUSED(MPI_Comm_spawn("program", MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, comm, &made, errors),
            MPI_ERR_ARG);
  }
  REFUSED(MPI_Comm_spawn("program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, root + 1, comm, &made, errors),
          MPI_ERR_ROOT);
  REFUSED(MPI_Comm_spawn("program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, comm, NULL, errors),
          MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Comm comm, parent = MPI_COMM_WORLD;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  spawns(comm);
  MPI_Comm_disconnect(&comm);
  CHECK(comm == MPI_COMM_NULL);
  REFUSED(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
  comm = MPI_COMM_SELF;
  REFUSED(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
  MPI_Finalize();
  return 0;
}
