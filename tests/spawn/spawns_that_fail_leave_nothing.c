// A spawn that fails is an error of all members of its group, of class MPI_ERR_SPAWN; the program
// goes on, and a later spawn has all places.
#include "spawn.h"

static void fails(const char* program, int count, int expected) {
  MPI_Comm made = MPI_COMM_WORLD;
  int i, *errors = (int*)malloc((size_t)(count + 1) * sizeof *errors);
  for (i = 0; i <= count; i++)
    errors[i] = -1;
  CHECK_EQUAL(class_of(MPI_Comm_spawn(program, MPI_ARGV_NULL, count, MPI_INFO_NULL, 0,
                                      MPI_COMM_WORLD, &made, errors)),
              expected);
  CHECK(made == MPI_COMM_NULL);
  for (i = 0; i <= count; i++)
    CHECK_EQUAL(errors[i], i < count && expected == MPI_ERR_SPAWN ? MPI_ERR_SPAWN : -1);
  free(errors);
}

static void succeeds(char* program, int count) {
  MPI_Comm inter;
  int errors[1024];
  CHECK_EQUAL(MPI_Comm_spawn(program, MPI_ARGV_NULL, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                             &inter, errors),
              MPI_SUCCESS);
  CHECK_EQUAL(remote_size_of(inter), count);
  MPI_Comm_disconnect(&inter);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world(), inter;
  if (parent != MPI_COMM_NULL) {
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int size = size_of(MPI_COMM_WORLD), places = attribute_of_world(MPI_UNIVERSE_SIZE) - size;
  int round;
  for (round = 0; round < 3; round++) {
    fails("/no/such/program", 3, MPI_ERR_SPAWN);
    fails("no-such-program-in-PATH", 1, MPI_ERR_SPAWN);
    // Another program than the job's.
    fails("/bin/sh", 2, MPI_ERR_SPAWN);
    fails(argv[0], places + 1, MPI_ERR_SPAWN);
    fails(argv[0], -1, MPI_ERR_ARG);
    succeeds(argv[0], 4);
  }
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/no/such/folder");
  CHECK_EQUAL(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter,
                                      MPI_ERRCODES_IGNORE)),
              MPI_ERR_SPAWN);
  MPI_Info_set(info, "soft", "1:x");
  CHECK_EQUAL(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter,
                                      MPI_ERRCODES_IGNORE)),
              MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
