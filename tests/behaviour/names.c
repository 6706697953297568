// What a program names reaches the terminal in a printable form: names HOW.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A title for the terminal, red, a tab and a line of its own, and a C1 control character.
#define NAME "<\033]0;title\007\033[31mred\tand\nnew\302\233>"

int main(int argc, char** argv) {
  const char* how = argv[1];
  int rank = 0;
  int number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(how, "communicator") == 0) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, NAME);
    if (rank != 0) MPI_Recv(&number, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Barrier(comm);
  }
  if (strcmp(how, "window") == 0) {
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, NAME);
    if (rank == 0) MPI_Win_fence(0, win);
    if (rank != 0) MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "datatype") == 0) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_name(type, NAME);
    int sum = 0;
    MPI_Allreduce(&number, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
  }
  if (strcmp(how, "file") == 0) {
    MPI_File file = MPI_FILE_NULL;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_SELF, "/nowhere/" NAME, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  }
  if (strcmp(how, "error") == 0) {
    int code = 0;
    MPI_Add_error_class(&code);
    MPI_Add_error_string(code, NAME);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return 0;
}
