/* The C library calls a function of the program, which it keeps for the whole process. */
#include <mpi.h>
#include <printf.h>
#include <stdio.h>
#include <string.h>

static int own_rank;

static int print_rank(FILE* file, const struct printf_info* info, const void* const* values) {
  (void)info;
  (void)values;
  return fprintf(file, "%d", own_rank);
}

static int count_arguments(const struct printf_info* info, size_t room, int* types, int* sizes) {
  (void)info;
  (void)room;
  (void)types;
  (void)sizes;
  return 0;
}

int main(int argc, char** argv) {
  char text[16];
  char expected[16];
  const char* format = "%Y";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  register_printf_specifier('Y', print_rank, count_arguments);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(text, sizeof text, format);
  snprintf(expected, sizeof expected, "%d", own_rank);
  printf("a conversion of rank %d is %s\n", own_rank,
         strcmp(text, expected) == 0 ? "its own" : text);
  MPI_Finalize();
  return 0;
}
