// A name given to a predefined datatype is its name in this rank alone; its handle, its size and
// its messages are as before. Two predefined names are synonyms of another one.
#include "../check.h"

static void check_name(MPI_Datatype type, const char* expected) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Type_get_name(type, name, &length);
  CHECK(strcmp(name, expected) == 0);
  CHECK_EQUAL(length, (int)strlen(expected));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  check_name(MPI_INT, "MPI_INT");
  check_name(MPI_LONG_LONG, "MPI_LONG_LONG_INT");
  char own[32];
  for (int round = 0; round < 2; ++round) {
    snprintf(own, sizeof own, "integers %d of rank %d", round, me);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_set_name(MPI_INT, own);
    MPI_Barrier(MPI_COMM_WORLD);
    check_name(MPI_INT, own);
    check_name(MPI_DOUBLE, "MPI_DOUBLE");
  }
  // Longer than a name may be.
  char longest[2 * MPI_MAX_OBJECT_NAME];
  memset(longest, 'n', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  MPI_Type_set_name(MPI_FLOAT, longest);
  longest[MPI_MAX_OBJECT_NAME - 1] = '\0';
  check_name(MPI_FLOAT, longest);

  int bytes = 0, sum = 0;
  MPI_Type_size(MPI_INT, &bytes);
  CHECK_EQUAL(bytes, (int)sizeof(int));
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Type_set_name(MPI_INT, "");
  check_name(MPI_INT, "");
  MPI_Finalize();
  return 0;
}
