/* Strings, memory and errors of the Fortran bindings. */
#include "fortran/shim.h"

#include <stdio.h>
#include <string.h>

void* sorrel_memory(MPI_Count count, size_t size) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, size);
  if (memory == NULL) {
    fputs("Sorrel's Fortran bindings: out of memory\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    abort();
  }
  return memory;
}

static char* copy(const char* text, size_t length) {
  char* string = sorrel_memory((MPI_Count)length + 1, 1);
  memcpy(string, text, length);
  return string;
}

char* sorrel_string(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ')
    --length;
  return copy(text, length);
}

char* sorrel_info_string(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ')
    --length;
  while (length > 0 && *text == ' ') {
    ++text;
    --length;
  }
  return copy(text, length);
}

void sorrel_give_string(const char* text, char* result, size_t length) {
  const size_t used = strnlen(text, length);
  memcpy(result, text, used);
  memset(result + used, ' ', length - used);
}

int sorrel_fail(int error, const char* function, const char* reason) {
  fprintf(stderr, "%s (Fortran): %s\n", function, reason);
  MPI_Comm_call_errhandler(MPI_COMM_SELF, error);
  return error;
}

MPI_Count sorrel_peers(MPI_Comm comm) {
  int is_inter = 0;
  int size = 0;
  if (comm == MPI_COMM_NULL) return 0;
  if (MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter) {
    MPI_Comm_remote_size(comm, &size);
  } else {
    MPI_Comm_size(comm, &size);
  }
  return size;
}

void sorrel_neighbors(MPI_Comm comm, MPI_Count* sources, MPI_Count* destinations) {
  int topology = MPI_UNDEFINED;
  *sources = *destinations = 0;
  if (comm == MPI_COMM_NULL || MPI_Topo_test(comm, &topology) != MPI_SUCCESS) return;
  if (topology == MPI_CART) {
    int dimensions = 0;
    MPI_Cartdim_get(comm, &dimensions);
    *sources = *destinations = 2 * (MPI_Count)dimensions;
  }
  if (topology == MPI_GRAPH) {
    int rank = 0;
    int neighbors = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &neighbors);
    *sources = *destinations = neighbors;
  }
  if (topology == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int is_weighted = 0;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
    *sources = in;
    *destinations = out;
  }
}

/* Values of Fortran 2008 and of the deprecated interfaces that no C function has. */
void pmpi_status_f2f08_(const MPI_Status* f_status, MPI_Status* f08_status, int* ierror) {
  *f08_status = *f_status;
  sorrel_return(ierror, MPI_SUCCESS);
}

SORREL_WEAK_ALIAS(mpi_status_f2f08_, pmpi_status_f2f08_);
SORREL_WEAK_ALIAS(mpi_status_f082f_, pmpi_status_f2f08_);
SORREL_ALIAS(pmpi_status_f082f_, pmpi_status_f2f08_);

/* A compiler keeps no variable in a register across a call that gets its address. */
void pmpi_f_sync_reg_(void* buffer) {
  (void)buffer;
}

SORREL_WEAK_ALIAS(mpi_f_sync_reg_, pmpi_f_sync_reg_);
