// Long broadcasts reach every rank, from any root, with and without gaps in the buffers, blocking
// and nonblocking. Lengths around those at which the data is cut.
#include "../check.h"

enum { most = 300000 };

static void fill(int* buffer, int count, int stride, int seed) {
  for (int i = 0; i < count * stride; ++i)
    buffer[i] = i % stride == 0 ? seed + i : -1;
}

static void check_all(const int* buffer, int count, int stride, int seed) {
  for (int i = 0; i < count * stride; ++i)
    CHECK_EQUAL(buffer[i], i % stride == 0 ? seed + i : -2);
}

static void broadcast(int* buffer, int count, int stride, int root, int is_blocking) {
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_INT, 0, stride * (int)sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int i = 0; i < count * stride; ++i)
    buffer[i] = -2;
  if (rank == root) fill(buffer, count, stride, root);
  if (is_blocking) {
    MPI_Bcast(buffer, count, spaced, root, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Ibcast(buffer, count, spaced, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank != root) check_all(buffer, count, stride, root);
  MPI_Type_free(&spaced);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = size_of(MPI_COMM_WORLD);
  int* buffer = malloc(most);
  const int roots[] = {0, size / 2, size - 1};
  // Bytes; a third of them with gaps.
  const int lengths[] = {49148, 49152, 65536, 65540, 131072, most};
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 6; ++i) {
      const int count = lengths[i] / (int)sizeof(int);
      broadcast(buffer, count, 1, roots[r], (i + r) % 2);
      broadcast(buffer, count / 3, 3, roots[r], (i + r + 1) % 2);
    }
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
