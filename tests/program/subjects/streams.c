/* Output by every way that C knows, whole lines from every rank; input for rank 0 alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, lines = 0, words = 0;
  char line[100];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (fgets(line, sizeof line, stdin) != NULL)
    ++lines;
  if (rank > 0 &&
      (scanf("%d", &words) != EOF || getchar() != EOF || read(0, line, 1) != 0 || !feof(stdin)))
    return 1;
  for (int i = 0; i < 100; ++i) {
    printf("rank %d ", rank);
    if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
    fputs("says", stdout);
    putchar(' ');
    fputc('"', stdout);
    putc_unlocked('i', stdout);
    putchar_unlocked('=');
    fprintf(stdout, "%d", i);
    fwrite("\"", 1, 1, stdout);
    puts(".");
    if (i == 50) fflush(stdout);
  }
  fprintf(stderr, "rank %d read ", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  fprintf(stderr, "%d lines\n", lines);
  printf("a last line without an end, of rank %d", rank);
  MPI_Finalize();
  return 0;
}
