// Calls functions that the library lacks. `how` is "return" to check their results.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// The header does not declare these.
int MPI_Close_port(const char* port_name);
int MPI_T_init_thread(int required, int* provided);

void call_absent_functions(const char* how);

void call_absent_functions(const char* how) {
  int error_class = 0, provided, length;
  char text[MPI_MAX_ERROR_STRING];
  if (strcmp(how, "return") != 0) {
    MPI_Close_port("port");
    return;
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Close_port("port"), &error_class);
  MPI_Error_string(error_class, text, &length);
  printf("%d %d %s %s\n", error_class == MPI_ERR_UNSUPPORTED_OPERATION,
         MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_T_ERR_CANNOT_INIT, text,
         dlsym(RTLD_DEFAULT, "MPI_Close_port") == NULL ? "unseen" : "seen");
}
