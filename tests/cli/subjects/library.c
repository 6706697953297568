/* A library between the program and MPI. */
int MPI_Imaginary(void);

int library_function(void) {
  return MPI_Imaginary();
}
