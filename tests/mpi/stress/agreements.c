// Everything that all ranks agree on by a short reduction or a barrier: sums, minima with places,
// broadcasts, windows, files. Each rank comes late at random, so that every order of arrival in a
// tree of workers occurs. Bit r of a sum of bits names rank r: a missing or old operand is seen.
// Words: rounds, and a folder for the file.
#include <unistd.h>

#include "../check.h"

enum { window_cells = 4, spin_max = 4000 };

static void compute_a_while(uint64_t* random) {
  volatile double x = 1;
  for (int i = random_below(random, spin_max); i > 0; i--)
    x *= 1.0000001;
}

static void check_sums(MPI_Comm comm, int round, uint64_t* random) {
  const int rank = rank_in(comm), size = size_of(comm);
  // The operand changes in each round: one of an earlier round is not the right one.
  const int bit = (rank + round) % 48;
  long long expected = 0;
  for (int i = 0; i < size; i++)
    expected += 1ll << ((i + round) % 48);
  compute_a_while(random);
  long long own = 1ll << bit, sum = -1;
  MPI_Allreduce(&own, &sum, 1, MPI_LONG_LONG, MPI_SUM, comm);
  CHECK_EQUAL(sum, expected);

  compute_a_while(random);
  // As many bytes as the record of an operand holds.
  double four[4] = {rank, round, rank == round % size ? round + 1.0 : -1.0, 1.0};
  MPI_Allreduce(MPI_IN_PLACE, four, 4, MPI_DOUBLE, MPI_MAX, comm);
  CHECK(four[0] == size - 1 && four[1] == round && four[2] == round + 1.0);

  compute_a_while(random);

  struct {
    int value, rank;
  } place = {rank == (round * 7) % size ? -round : rank, rank}, least = {0, -1};

  MPI_Reduce(&place, &least, 1, MPI_2INT, MPI_MINLOC, round % size, comm);
  if (rank == round % size && round > 0) CHECK_EQUAL(least.rank, (round * 7) % size);

  compute_a_while(random);
  long told = rank == round % size ? round * 3l : -1;
  MPI_Bcast(&told, 1, MPI_LONG, round % size, comm);
  CHECK_EQUAL(told, round * 3l);
  MPI_Barrier(comm);
}

static void check_window(MPI_Comm comm, int round, uint64_t* random) {
  const int rank = rank_in(comm), size = size_of(comm);
  int* cells;
  MPI_Win window;
  compute_a_while(random);
  MPI_Win_allocate(window_cells * sizeof *cells, sizeof *cells, MPI_INFO_NULL, comm, &cells,
                   &window);
  for (int i = 0; i < window_cells; i++)
    cells[i] = -1;
  MPI_Win_fence(0, window);
  const int value = round * 1000 + rank;
  compute_a_while(random);
  MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, round % window_cells, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(cells[round % window_cells], round * 1000 + (rank + size - 1) % size);
  MPI_Win_free(&window);
}

static void check_file(MPI_Comm comm, const char* name, int round, uint64_t* random) {
  const int rank = rank_in(comm), size = size_of(comm);
  MPI_File file;
  compute_a_while(random);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  CHECK_EQUAL(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file), MPI_SUCCESS);
  const int own = round * 1000 + rank;
  int theirs = -1;
  const int other = (rank + 1) % size;
  CHECK_EQUAL(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof own, &own, 1, MPI_INT,
                                    MPI_STATUS_IGNORE),
              MPI_SUCCESS);
  MPI_File_sync(file);
  compute_a_while(random);
  MPI_Barrier(comm);
  MPI_File_sync(file);
  CHECK_EQUAL(MPI_File_read_at_all(file, other * (MPI_Offset)sizeof own, &theirs, 1, MPI_INT,
                                   MPI_STATUS_IGNORE),
              MPI_SUCCESS);
  CHECK_EQUAL(theirs, round * 1000 + other);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  char name[500];
  snprintf(name, sizeof name, "%s/agreements.%d", argc > 2 ? argv[2] : ".", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  uint64_t random = random_seed(1) * 1000 + (uint64_t)rank;
  // All ranks in the opposite order; and those of odd numbers, which have a tree of their own.
  MPI_Comm reversed, odd;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 1 ? 0 : MPI_UNDEFINED, rank, &odd);
  for (int round = 0; round < rounds; round++) {
    check_sums(MPI_COMM_WORLD, round, &random);
    check_sums(reversed, round, &random);
    if (odd != MPI_COMM_NULL) check_sums(odd, round, &random);
    if (round % 8 == 0) check_window(reversed, round, &random);
    if (round % 8 == 4) check_file(MPI_COMM_WORLD, name, round, &random);
  }
  if (odd != MPI_COMM_NULL) MPI_Comm_free(&odd);
  MPI_Comm_free(&reversed);
  if (rank == 0) printf("%d ranks agreed in %d rounds\n", size, rounds);
  MPI_Finalize();
  return 0;
}
