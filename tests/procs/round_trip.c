// Messages of every protocol round all ranks, and a collective, for every division into processes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Private to a rank in every process.
static int round_count;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char** argv) {
  const int counts[] = {1, 16, 1000, 100000};
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  long* out = malloc(100000 * sizeof *out);
  long* in = malloc(100000 * sizeof *in);
  for (int round = 0; round < 20; ++round) {
    for (int c = 0; c < 4; ++c) {
      for (int i = 0; i < counts[c]; ++i)
        out[i] = rank * 1000L + round + i;
      MPI_Sendrecv(out, counts[c], MPI_LONG, right, c, in, counts[c], MPI_LONG, left, c,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < counts[c]; ++i)
        expect(in[i] == left * 1000L + round + i, "a message");
    }
    long sum = 0;
    long mine = rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size * (size - 1L) / 2, "a sum");
    ++round_count;
  }
  expect(round_count == 20, "a private global");
  if (rank == 0) printf("%d ranks\n", size);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
