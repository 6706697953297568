/* A library above one that uses MPI: it comes with the C library before MPI's library in the search
 * order. */
void mpi_library_report(void);

void above_mpi_library_report(void) {
  mpi_library_report();
}
