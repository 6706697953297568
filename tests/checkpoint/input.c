// The first rank reads lines of the standard input; the job is saved after two.
//
// usage: input LIBRARY_CALL
//   fgets, read: how it reads. It prints each line; ungetc: as fgets, with a character put back
//   before the checkpoint.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sorrel.h>

static int reads_by_system;

/// False: the end.
static int read_line(char* line, int room) {
  if (!reads_by_system) return fgets(line, room, stdin) != NULL;
  int length = 0;
  while (length < room - 1 && read(0, &line[length], 1) == 1) {
    if (line[length++] == '\n') break;
  }
  line[length] = 0;
  return length > 0;
}

int main(int argc, char** argv) {
  char line[64];
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  reads_by_system = strcmp(argv[1], "read") == 0;
  for (int i = 0; i < 2 && rank == 0 && read_line(line, sizeof line); ++i)
    printf("%s", line);
  if (rank == 0 && strcmp(argv[1], "ungetc") == 0) ungetc('+', stdin), ungetc('*', stdin);
  const int outcome = sorrel_checkpoint();
  if (outcome == 1 && rank == 0) printf("restarted\n");
  while (rank == 0 && read_line(line, sizeof line))
    printf("%s", line);
  MPI_Finalize();
  return outcome < 0;
}
