// A rank of a job of several programs: parts NAME [die|wait|status]. Every rank checks what MPI
// promises about such a job; rank 0 prints the program number and the argument of each rank.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { long_bytes = 1 << 20 };

static int calls;

static void expect(int is_right, const char* what) {
  if (is_right) return;
  printf("%s is wrong\n", what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char** argv) {
  int rank, size, is_set, *number, *universe;
  const char* how = argc > 2 ? argv[2] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(++calls == 1, "a global");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &is_set);
  expect(is_set, "MPI_APPNUM");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_set);
  expect(is_set && *universe == size, "MPI_UNIVERSE_SIZE");

  // Ranks are numbered part by part.
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, *number, rank, &part);
  int part_rank, part_size, first;
  MPI_Comm_rank(part, &part_rank);
  MPI_Comm_size(part, &part_size);
  first = rank - part_rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, part);
  expect(first + part_rank == rank, "the order of ranks");
  expect(atoi(getenv("SORREL_RANK")) == rank && atoi(getenv("PMI_SIZE")) == size, "a variable");

  // All ranks of the machine share memory.
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int node_size, sum;
  MPI_Comm_size(node, &node_size);
  expect(node_size == size, "MPI_Comm_split_type");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == size * (size - 1) / 2, "MPI_Allreduce");

  // Long messages to the neighbours, also across programs.
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  char* sent = malloc(long_bytes);
  char* received = malloc(long_bytes);
  memset(sent, rank, long_bytes);
  MPI_Sendrecv(sent, long_bytes, MPI_CHAR, next, 1, received, long_bytes, MPI_CHAR, previous, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(received[0] == (char)previous && received[long_bytes - 1] == (char)previous, "a message");

  char mine[16] = "", *all = malloc((size_t)size * sizeof mine);
  snprintf(mine, sizeof mine, "%d%s ", *number, argc > 1 ? argv[1] : "");
  MPI_Gather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i)
    fputs(all + (size_t)i * sizeof mine, stdout);
  if (rank == 0) puts("");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "die") == 0 && part_rank == part_size - 1) raise(SIGSEGV);
  if (strcmp(how, "wait") == 0)
    MPI_Recv(received, 1, MPI_CHAR, next, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return strcmp(how, "status") == 0 ? 7 : 0;
}
