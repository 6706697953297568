/* The host's functions where the plugin is not linked with it: looked up in a library that was
 * opened by its path, because its name is the same as ours. Each stands under MPI's own name. */
#ifndef SORREL_HOST_FUNCTIONS_H
#define SORREL_HOST_FUNCTIONS_H

#include <mpi.h>

/* Of the standard, also where the header that we are compiled with leaves it out. */
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
int MPI_Iallgather(const void* sendbuf,
                   int sendcount,
                   MPI_Datatype sendtype,
                   void* recvbuf,
                   int recvcount,
                   MPI_Datatype recvtype,
                   MPI_Comm comm,
                   MPI_Request* request);

#define SORREL_HOST_FUNCTIONS(use)                                                                 \
  use(MPI_Init_thread) use(MPI_Finalize) use(MPI_Abort) use(MPI_Comm_dup) use(MPI_Comm_rank)       \
      use(MPI_Comm_size) use(MPI_Comm_free) use(MPI_Comm_set_errhandler) use(MPI_Comm_split_type)  \
          use(MPI_Allgather) use(MPI_Allreduce) use(MPI_Irecv) use(MPI_Isend) use(MPI_Test)        \
              use(MPI_Testany) use(MPI_Barrier) use(MPI_Ibarrier) use(MPI_Get_count)               \
                  use(MPI_Cancel) use(MPI_Wait) use(MPI_Error_string) use(MPI_Get_library_version) \
                      use(MPI_Iallgather)

#define SORREL_HOST_POINTER(name) __typeof__(&name) p_##name;

struct host_functions {
  SORREL_HOST_FUNCTIONS(SORREL_HOST_POINTER)
};

#undef SORREL_HOST_POINTER

extern struct host_functions host_functions;

#define MPI_Init_thread (*host_functions.p_MPI_Init_thread)
#define MPI_Finalize (*host_functions.p_MPI_Finalize)
#define MPI_Abort (*host_functions.p_MPI_Abort)
#define MPI_Comm_dup (*host_functions.p_MPI_Comm_dup)
#define MPI_Comm_rank (*host_functions.p_MPI_Comm_rank)
#define MPI_Comm_size (*host_functions.p_MPI_Comm_size)
#define MPI_Comm_free (*host_functions.p_MPI_Comm_free)
#define MPI_Comm_set_errhandler (*host_functions.p_MPI_Comm_set_errhandler)
#define MPI_Comm_split_type (*host_functions.p_MPI_Comm_split_type)
#define MPI_Allgather (*host_functions.p_MPI_Allgather)
#define MPI_Allreduce (*host_functions.p_MPI_Allreduce)
#define MPI_Irecv (*host_functions.p_MPI_Irecv)
#define MPI_Isend (*host_functions.p_MPI_Isend)
#define MPI_Test (*host_functions.p_MPI_Test)
#define MPI_Testany (*host_functions.p_MPI_Testany)
#define MPI_Barrier (*host_functions.p_MPI_Barrier)
#define MPI_Ibarrier (*host_functions.p_MPI_Ibarrier)
#define MPI_Get_count (*host_functions.p_MPI_Get_count)
#define MPI_Cancel (*host_functions.p_MPI_Cancel)
#define MPI_Wait (*host_functions.p_MPI_Wait)
#define MPI_Error_string (*host_functions.p_MPI_Error_string)
#define MPI_Get_library_version (*host_functions.p_MPI_Get_library_version)
#define MPI_Iallgather (*host_functions.p_MPI_Iallgather)

/* 0 when the library has them all; else one line in `trouble`. */
int open_host_functions(const char* library, char* error, int trouble_bytes);

#endif
