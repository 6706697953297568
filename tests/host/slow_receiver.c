// Rank 0 sends far more than memory should hold to the last rank, which at first has no time for
// it. Neither side's memory grows with the data in flight.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { message_bytes = 8192, message_count = 20000, limit_kib = 160 * 1024 };

// The most that this process has ever had, in KiB.
static long peak_kib(void) {
  char line[200];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    sscanf(line, "VmHWM: %ld", &kib);
  if (file != NULL) fclose(file);
  return kib;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* data = malloc(message_bytes);
  memset(data, rank, message_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = peak_kib();
  for (int i = 0; i < message_count && rank == 0; ++i) {
    memcpy(data, &i, sizeof i);
    MPI_Send(data, message_bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
  }
  if (rank == size - 1) {
    const double began = MPI_Wtime();
    while (MPI_Wtime() - began < 1) {
    }
    for (int i = 0; i < message_count; ++i) {
      int number;
      MPI_Recv(data, message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memcpy(&number, data, sizeof number);
      if (number != i) MPI_Abort(MPI_COMM_WORLD, 5);
    }
  }
  long grown = peak_kib() - before, most;
  MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", most < limit_kib ? "bounded" : "grown");
  if (rank == 0 && most >= limit_kib) fprintf(stderr, "memory has grown by %ld KiB\n", most);
  free(data);
  MPI_Finalize();
  return rank == 0 && most >= limit_kib;
}
