#pragma once
#include <stdint.h>
/* Types of MPICH's binary interface: handles are integers, but for files. */
typedef int F_MPI_Comm;
typedef int F_MPI_Datatype;
typedef int F_MPI_Errhandler;
typedef struct f_file* F_MPI_File;
typedef int F_MPI_Group;
typedef int F_MPI_Info;
typedef int F_MPI_Message;
typedef int F_MPI_Op;
typedef int F_MPI_Request;
typedef int F_MPI_Session;
typedef int F_MPI_Win;

typedef struct {
  int count_low;
  int count_high_and_cancelled; /* bit 0: it is cancelled */
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} F_MPI_Status;
