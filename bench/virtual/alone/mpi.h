// MPI for a program of one rank, without any MPI: the probes that include it use the C library's
// allocator alone. Has what bench/probes/allocate.c and bench/virtual/hydro.c call.
#ifndef SORREL_BENCH_ALONE_MPI_H
#define SORREL_BENCH_ALONE_MPI_H

#include <stdlib.h>
#include <string.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op;

enum { MPI_COMM_WORLD, MPI_INT = 4, MPI_DOUBLE = 8, MPI_MAX = 0, MPI_SUM };

static inline int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}

static inline int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = 0;
  return comm;
}

static inline int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = 1;
  return comm;
}

static inline int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)data, (void)count, (void)type, (void)root;
  return comm;
}

static inline int MPI_Barrier(MPI_Comm comm) {
  return comm;
}

static inline int MPI_Allreduce(
    const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  (void)operation;
  memcpy(to, from, (size_t)count * (size_t)type);
  return comm;
}

static inline int MPI_Reduce(const void* from,
                             void* to,
                             int count,
                             MPI_Datatype type,
                             MPI_Op operation,
                             int root,
                             MPI_Comm comm) {
  (void)root;
  return MPI_Allreduce(from, to, count, type, operation, comm);
}

static inline int MPI_Abort(MPI_Comm comm, int status) {
  (void)comm;
  exit(status);
}

static inline int MPI_Finalize(void) {
  return 0;
}

#endif
