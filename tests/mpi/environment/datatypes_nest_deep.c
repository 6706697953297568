// Datatypes may be nested a hundred thousand deep, each made from the previous one, which is then
// freed: making, using and freeing them needs no more stack than one.
#include "../check.h"

enum { depth = 100000 };

int main(int argc, char** argv) {
  MPI_Datatype type = MPI_INT;
  int size, sent = 7, received = 0;
  MPI_Init(&argc, &argv);
  // The memory for the types of one rank is enough for a test.
  for (int i = 0; rank_in(MPI_COMM_WORLD) == 0 && i < depth; i++) {
    MPI_Datatype next;
    if (i % 2 == 0) {
      CHECK_EQUAL(MPI_Type_vector(1, 1, 1, type, &next), MPI_SUCCESS);
    } else {
      CHECK_EQUAL(MPI_Type_contiguous(1, type, &next), MPI_SUCCESS);
    }
    if (i > 0) MPI_Type_free(&type);
    type = next;
  }
  if (type != MPI_INT) MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  CHECK_EQUAL(size, (int)sizeof(int));
  MPI_Sendrecv(&sent, 1, type, 0, 0, &received, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK_EQUAL(received, sent);
  if (type != MPI_INT) MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
