/* The host's functions and objects where the plugin is not linked with the host: looked up in a
 * library that was opened by its path. Its name may be that of another library of the process, and
 * it differs between distributions. Each stands under the host's own name. */
#ifndef SORREL_HOST_FUNCTIONS_H
#define SORREL_HOST_FUNCTIONS_H

#include <mpi.h>

/* clang-format off */
#define SORREL_HOST_FUNCTIONS(use) \
  use(Init_thread) use(Finalize) use(Abort) use(Comm_dup) use(Comm_rank) use(Comm_size) \
  use(Comm_free) use(Comm_set_errhandler) use(Comm_split_type) use(Allgather) use(Allreduce) \
  use(Irecv) use(Isend) use(Test) use(Testany) use(Barrier) use(Ibarrier) use(Get_count) \
  use(Cancel) use(Wait) use(Error_string) use(Get_library_version) use(Iallgather)

/* Handles that are addresses of the host's objects. */
#ifdef SORREL_HOST_OBJECTS
#define SORREL_HOST_HANDLES(use) \
  use(ompi_mpi_comm_world) use(ompi_mpi_errors_return) use(ompi_mpi_info_null) use(ompi_mpi_int) \
  use(ompi_mpi_byte) use(ompi_mpi_op_min) use(ompi_request_null)
#else
#define SORREL_HOST_HANDLES(use)
#endif
/* clang-format on */

#define SORREL_HOST_FUNCTION(name) __typeof__(&MPI_##name) name;
#define SORREL_HOST_OBJECT(name) __typeof__(&name) name##_;

struct host_functions {
  SORREL_HOST_FUNCTIONS(SORREL_HOST_FUNCTION)
  SORREL_HOST_HANDLES(SORREL_HOST_OBJECT)
};

extern struct host_functions host_functions;

#define MPI_Init_thread (*host_functions.Init_thread)
#define MPI_Finalize (*host_functions.Finalize)
#define MPI_Abort (*host_functions.Abort)
#define MPI_Comm_dup (*host_functions.Comm_dup)
#define MPI_Comm_rank (*host_functions.Comm_rank)
#define MPI_Comm_size (*host_functions.Comm_size)
#define MPI_Comm_free (*host_functions.Comm_free)
#define MPI_Comm_set_errhandler (*host_functions.Comm_set_errhandler)
#define MPI_Comm_split_type (*host_functions.Comm_split_type)
#define MPI_Allgather (*host_functions.Allgather)
#define MPI_Allreduce (*host_functions.Allreduce)
#define MPI_Irecv (*host_functions.Irecv)
#define MPI_Isend (*host_functions.Isend)
#define MPI_Test (*host_functions.Test)
#define MPI_Testany (*host_functions.Testany)
#define MPI_Barrier (*host_functions.Barrier)
#define MPI_Ibarrier (*host_functions.Ibarrier)
#define MPI_Get_count (*host_functions.Get_count)
#define MPI_Cancel (*host_functions.Cancel)
#define MPI_Wait (*host_functions.Wait)
#define MPI_Error_string (*host_functions.Error_string)
#define MPI_Get_library_version (*host_functions.Get_library_version)
#define MPI_Iallgather (*host_functions.Iallgather)

#define ompi_mpi_comm_world (*host_functions.ompi_mpi_comm_world_)
#define ompi_mpi_errors_return (*host_functions.ompi_mpi_errors_return_)
#define ompi_mpi_info_null (*host_functions.ompi_mpi_info_null_)
#define ompi_mpi_int (*host_functions.ompi_mpi_int_)
#define ompi_mpi_byte (*host_functions.ompi_mpi_byte_)
#define ompi_mpi_op_min (*host_functions.ompi_mpi_op_min_)
#define ompi_request_null (*host_functions.ompi_request_null_)

/* 0 when the library has them all; else one line in `error`. */
int open_host_functions(const char* library, char* error, int error_bytes);

#endif
