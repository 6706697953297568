// time_of_collective NAME LIMIT_US - ends with an error unless a collective of 1 MiB is right and
// takes at most so much time. For jobs with --seed and --wire, whose time is virtual: it depends on
// the messages alone, not on the machine.
#include "../check.h"

enum { count = 131072 };

static const char* name;
static int rank, size;
static double* in;
static double* out;

static double input(int of, int i) {
  return of + i % 1000;
}

// Calls the collective and returns how many elements the rank has got.
static int call(void) {
  const int part = count / size;
  if (strcmp(name, "allreduce") == 0) {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(name, "reduce") == 0) {
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return rank == 0 ? count : 0;
  } else if (strcmp(name, "bcast") == 0) {
    for (int i = 0; i < count; ++i)
      out[i] = rank == 1 ? input(1, i) : -1;
    MPI_Bcast(out, count, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  } else if (strcmp(name, "allgather") == 0) {
    MPI_Allgather(in, part, MPI_DOUBLE, out, part, MPI_DOUBLE, MPI_COMM_WORLD);
  } else {
    CHECK(strcmp(name, "alltoall") == 0);
    MPI_Alltoall(in, part, MPI_DOUBLE, out, part, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  return count;
}

static double expected(int i) {
  const int part = count / size;
  if (strcmp(name, "bcast") == 0) return input(1, i);
  if (strcmp(name, "allgather") == 0) return input(i / part, i % part);
  if (strcmp(name, "alltoall") == 0) return input(i / part, rank * part + i % part);
  return size * (size - 1) / 2 + size * (i % 1000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  CHECK_EQUAL(argc, 3);
  CHECK_EQUAL(count % size, 0);
  name = argv[1];
  in = malloc(count * sizeof *in), out = malloc(count * sizeof *out);
  for (int i = 0; i < count; ++i)
    in[i] = input(rank, i);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  const int got = call();
  const double own = MPI_Wtime() - begun;
  for (int i = 0; i < got; ++i)
    CHECK_EQUAL(out[i], expected(i));
  double longest = 0;
  MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %.0f us of virtual time\n", name, 1e6 * longest);
  if (rank == 0) CHECK(1e6 * longest <= atof(argv[2]));
  free(in), free(out);
  MPI_Finalize();
  return 0;
}
