// Calls a function that fails in a job of several processes, on the error handler in force.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Close_port("port");
  MPI_Finalize();
  return 0;
}
