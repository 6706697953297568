// Calls a function that always fails, on the error handler in force.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Close_port("port");
  MPI_Finalize();
  return 0;
}
