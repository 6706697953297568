#pragma once
#include <stdint.h>
/* Types of Open MPI's binary interface: handles are addresses of objects. */
typedef struct f_comm* F_MPI_Comm;
typedef struct f_datatype* F_MPI_Datatype;
typedef struct f_errhandler* F_MPI_Errhandler;
typedef struct f_file* F_MPI_File;
typedef struct f_group* F_MPI_Group;
typedef struct f_info* F_MPI_Info;
typedef struct f_message* F_MPI_Message;
typedef struct f_op* F_MPI_Op;
typedef struct f_request* F_MPI_Request;
typedef struct f_session* F_MPI_Session;
typedef struct f_win* F_MPI_Win;

/* Fortran has statuses at any multiple of 4. */
typedef struct __attribute__((packed, aligned(4))) {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int is_cancelled;
  uint64_t byte_count;
} F_MPI_Status;
