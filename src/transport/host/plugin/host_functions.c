#define _GNU_SOURCE
#include <mpi.h>

/* Taken before the header gives the names another meaning. */
static const char* const names[] = {"MPI_Init_thread",     "MPI_Finalize",
                                    "MPI_Abort",           "MPI_Comm_dup",
                                    "MPI_Comm_rank",       "MPI_Comm_size",
                                    "MPI_Comm_free",       "MPI_Comm_set_errhandler",
                                    "MPI_Comm_split_type", "MPI_Allgather",
                                    "MPI_Allreduce",       "MPI_Irecv",
                                    "MPI_Isend",           "MPI_Test",
                                    "MPI_Testany",         "MPI_Barrier",
                                    "MPI_Ibarrier",        "MPI_Get_count",
                                    "MPI_Cancel",          "MPI_Wait",
                                    "MPI_Error_string",    "MPI_Get_library_version",
                                    "MPI_Iallgather"};

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "transport/host/plugin/host_functions.h"

struct host_functions host_functions;

_Static_assert(sizeof host_functions == sizeof names, "one name for each pointer, in order");

int open_host_functions(const char* library, char* error, int trouble_bytes) {
  /* By its path: a name without one would find our own library, which is called the same. */
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == NULL) {
    snprintf(error, (size_t)trouble_bytes, "%s", dlerror());
    return 1;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    void* function = dlsym(handle, names[i]);
    if (function == NULL) {
      snprintf(error, (size_t)trouble_bytes, "%s has no %s", library, names[i]);
      return 1;
    }
    memcpy((char*)&host_functions + i * sizeof function, &function, sizeof function);
  }
  return 0;
}
