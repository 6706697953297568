// Accumulates with every predefined operation class: sums of integers and floats of each size,
// logical and bitwise operations, pairs with gaps, complex numbers, MPI_REPLACE and MPI_NO_OP;
// several ranks at once; the order of one rank's accumulates is kept.
#include <complex.h>

#include "../check.h"

static int rank, size;

#define SUM_OF(type, mpi_type)                                                               \
  do {                                                                                       \
    type* memory;                                                                            \
    MPI_Win win;                                                                             \
    MPI_Win_allocate(3 * sizeof(type), sizeof(type), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, \
                     &win);                                                                  \
    memory[0] = memory[1] = memory[2] = 1;                                                   \
    const type values[3] = {1, 2, (type)(rank % 3)};                                         \
    MPI_Win_fence(0, win);                                                                   \
    MPI_Accumulate(values, 3, mpi_type, 0, 0, 3, mpi_type, MPI_SUM, win);                    \
    MPI_Win_fence(0, win);                                                                   \
    type expected = 1;                                                                       \
    for (int i = 0; i < size; i++)                                                           \
      expected = (type)(expected + (type)(i % 3));                                           \
    if (rank == 0)                                                                           \
      CHECK(memory[0] == (type)(1 + size) && memory[1] == (type)(1 + 2 * size) &&            \
            memory[2] == expected);                                                          \
    MPI_Win_free(&win);                                                                      \
  } while (0)

struct double_int {
  double value;
  int index;
};

static void pairs(void) {
  struct double_int* memory;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &win);
  memory[0].value = memory[1].value = -1;
  memory[0].index = memory[1].index = -1;
  struct double_int mine[2] = {{rank, rank}, {-2 - rank, rank}};
  MPI_Win_fence(0, win);
  MPI_Accumulate(mine, 2, MPI_DOUBLE_INT, size - 1, 0, 2, MPI_DOUBLE_INT, MPI_MAXLOC, win);
  MPI_Win_fence(0, win);
  if (rank == size - 1) {
    CHECK(memory[0].value == size - 1 && memory[0].index == size - 1);
    CHECK(memory[1].value == -1 && memory[1].index == -1);
  }
  struct double_int old = {0, 0};
  MPI_Fetch_and_op(NULL, &old, MPI_DOUBLE_INT, size - 1, 0, MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  CHECK(old.value == size - 1 && old.index == size - 1);
  MPI_Win_free(&win);
}

static void in_order(void) {
  long* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 3;
  MPI_Win_fence(0, win);
  const int target = (rank + 1) % size;
  long values[4] = {10, 7, 2, 0}, old[4];
  MPI_Accumulate(&values[0], 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_REPLACE, win);
  MPI_Get_accumulate(&values[1], 1, MPI_LONG, &old[0], 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM,
                     win);
  MPI_Accumulate(&values[2], 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_PROD, win);
  MPI_Fetch_and_op(NULL, &old[1], MPI_LONG, target, 0, MPI_NO_OP, win);
  MPI_Fetch_and_op(&values[2], &old[2], MPI_LONG, target, 0, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(old[0], 10);
  CHECK_EQUAL(old[1], 34);
  CHECK_EQUAL(old[2], 34);
  CHECK_EQUAL(*memory, 2);
  MPI_Win_free(&win);
}

static void bits_and_truth(void) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = 0;
  memory[1] = 1;
  memory[2] = 0;
  const int bit = 1 << (rank % 20), truth = 2, parity = 1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&bit, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_BOR, win);
  MPI_Accumulate(&truth, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_LAND, win);
  MPI_Accumulate(&parity, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_BXOR, win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    CHECK_EQUAL(memory[0], (1 << (size < 20 ? size : 20)) - 1);
    CHECK_EQUAL(memory[1], 1);
    CHECK_EQUAL(memory[2], size % 2);
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  SUM_OF(signed char, MPI_SIGNED_CHAR);
  SUM_OF(unsigned short, MPI_UNSIGNED_SHORT);
  SUM_OF(int, MPI_INT);
  SUM_OF(unsigned long, MPI_UNSIGNED_LONG);
  SUM_OF(float, MPI_FLOAT);
  SUM_OF(double, MPI_DOUBLE);
  SUM_OF(long double, MPI_LONG_DOUBLE);
  SUM_OF(double _Complex, MPI_C_DOUBLE_COMPLEX);
  pairs();
  in_order();
  bits_and_truth();
  MPI_Finalize();
  return 0;
}
