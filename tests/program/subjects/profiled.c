// A program built with gcc -pg, which calls work() 50 times in each rank.
#include <mpi.h>

__attribute__((noinline)) static double work(int factor) {
  double sum = 0;
  for (int i = 0; i < 1000; ++i)
    sum += i * 1e-3 * factor;
  return sum;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  double sum = 0;
  for (int i = 0; i < 50; ++i)
    sum += work(i);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum < 0;
}
