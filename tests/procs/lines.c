// lines COUNT [exact]: every rank prints COUNT lines on standard output, and every tenth also on
// standard error: its rank, the line's number, and letters up to three times as long as a pipe
// takes whole. With `exact`, rank 0 prints bytes without any line, and the other ranks nothing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_line(FILE* file, int rank, int number) {
  static const int lengths[] = {0, 10, 80, 4000, 12288};
  const int length = lengths[(number + rank) % 5];
  char* letters = malloc((size_t)length + 1);
  memset(letters, 'a' + rank % 26, (size_t)length);
  letters[length] = '\0';
  fprintf(file, "%d %d %d %s.\n", rank, number, length, letters);
  free(letters);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  if (argc > 2) {
    for (int i = 0; rank == 0 && i < count; ++i)
      putchar(i % 9);
  } else {
    for (int i = 0; i < count; ++i) {
      print_line(stdout, rank, i);
      if (i % 10 == 0) print_line(stderr, rank, i);
    }
  }
  MPI_Finalize();
  return 0;
}
