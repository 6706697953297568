// A program with a part that was built for an MPI library with more functions: absent.c [return].
#include <mpi.h>

void call_absent_functions(const char* how);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  call_absent_functions(argc > 1 ? argv[1] : "");
  MPI_Finalize();
  return 0;
}
