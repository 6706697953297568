/* A stub of libmpi_abi.so.1: a job of one rank that must make exactly the calls of subject.c, in
 * that order and with those arguments. If a damaged program runs well with it, but not with the
 * real library, the real one has a fault. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int called;

/* Damaged hash tables of the program crash the loader at names that hash to the damage. The real
 * library looks up some hundred names; as many reach every bucket. */
__attribute__((constructor)) static void look_up_names(void) {
  for (int i = 0; i < 2000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "no_such_name_%d", i);
    (void)dlsym(RTLD_DEFAULT, name);
  }
}

static int check_call(int expected) {
  if (called++ == expected) return 0;
  fprintf(stderr, "stub: call %d differs from that of the undamaged program\n", called - 1);
  exit(9);
}

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return check_call(0);
}

static int check_call_in_world(int expected, MPI_Comm comm) {
  return check_call(comm == MPI_COMM_WORLD ? expected : -1);
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = 0;
  return check_call_in_world(1, comm);
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = 1;
  return check_call_in_world(2, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  return check_call_in_world(3, comm);
}

int MPI_Allreduce(
    const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (count != 1 || type != MPI_INT || op != MPI_MIN) return check_call(-1);
  memcpy(to, from, sizeof(int));
  return check_call_in_world(4, comm);
}

int MPI_Finalize(void) {
  return check_call(5);
}
