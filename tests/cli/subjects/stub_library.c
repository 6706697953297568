/* A stub of libmpi_abi.so.1 for tests of the command alone: some MPI functions, no ranks. */
int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return 0;
}

int MPI_Finalize(void) {
  return 0;
}

int MPI_Comm_rank(void* comm, int* rank) {
  (void)comm;
  *rank = 0;
  return 0;
}

int MPI_Comm_size(void* comm, int* size) {
  (void)comm;
  *size = 1;
  return 0;
}

#ifdef WITH_ANOTHER_FUNCTION
int MPI_Imaginary(void) {
  return 0;
}

int PMPI_Imaginary_too(void) {
  return 0;
}

int MPI_Comm_spawn(void) {
  return 0;
}
#endif
