/* OpenBLAS starts threads in its constructor: each rank has its own, and its own number of them. */
#include <cblas.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);

int main(int argc, char** argv) {
  enum { size = 200 };

  int rank, is_right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  openblas_set_num_threads(1 + rank % 2);
  MPI_Barrier(MPI_COMM_WORLD);
  is_right = openblas_get_num_threads() == 1 + rank % 2;
  double* left = malloc(sizeof(double[size * size]));
  double* right = malloc(sizeof(double[size * size]));
  double* product = malloc(sizeof(double[size * size]));
  for (int i = 0; i < size * size; ++i) {
    left[i] = rank;
    right[i] = 1;
  }
  for (int repeat = 0; repeat < 3; ++repeat)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, left, size, right,
                size, 0, product, size);
  for (int i = 0; i < size * size; ++i)
    is_right &= product[i] == (double)rank * size;
  printf("library of rank %d is %s\n", rank, is_right ? "its own" : "shared");
  MPI_Finalize();
  return 0;
}
