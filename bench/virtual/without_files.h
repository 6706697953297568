// For miniVite, by -include: builds it with MPIs that have no MPI-IO, and without an OpenMP
// library. Its graph is then generated; to read one from a file fails.
#ifndef SORREL_BENCH_WITHOUT_FILES_H
#define SORREL_BENCH_WITHOUT_FILES_H

#include <mpi.h>
#include <omp.h>

// As the calls: not MPI_SUCCESS.
#define MPI_File_open(...) MPI_ERR_OTHER
#define MPI_File_read_all(...) MPI_ERR_OTHER
#define MPI_File_read_at(...) MPI_ERR_OTHER
#define MPI_File_close(...) MPI_ERR_OTHER
#define omp_get_max_threads() 1

#endif
