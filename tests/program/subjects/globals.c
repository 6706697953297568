/* Every kind of C global, seen by every rank as if it were alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rounds = 50 };

int initialised = 7;
int zero_initialised;
static int file_static = 11;
static double table[1000];
static int* const pointer_to_own = &initialised;
const char* words[] = {"alpha", "beta", "gamma"};
extern char** environ;

static int twice(int x) {
  return 2 * x;
}

static int thrice(int x) {
  return 3 * x;
}

static int (*const functions[])(int) = {twice, thrice};
static int (*changing)(int) = twice;

static struct node {
  struct node* next;
  int value;
} second = {NULL, 2}, first = {&second, 1};

/* One past the end of the image still belongs to it. */
static char last_bytes[64];
static char* end_of_bytes = last_bytes + sizeof last_bytes;

static int next_local(void) {
  static int calls = 0;
  return ++calls;
}

static void require(int condition, const char* what, int rank) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  initialised += rank;
  zero_initialised = rank;
  file_static *= rank + 1;
  changing = rank % 2 ? thrice : twice;
  words[0] = rank % 2 ? "odd" : "even";
  argv[0][0] = (char)('a' + rank % 26);
  for (int i = 0; i < rounds; ++i) {
    table[i] = rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    require(next_local() == i + 1, "a static local was shared", rank);
    require(table[i] == rank + i, "a table was shared", rank);
  }
  require(initialised == 7 + rank && *pointer_to_own == 7 + rank,
          "an initialised global was shared", rank);
  require(zero_initialised == rank, "a .bss global was shared", rank);
  require(file_static == 11 * (rank + 1), "a static global was shared", rank);
  require(changing(10) == (rank % 2 ? 30 : 20), "a function pointer was shared", rank);
  require(functions[1](5) == 15 && functions[0] == twice, "a function table points elsewhere",
          rank);
  require(strcmp(words[0], rank % 2 ? "odd" : "even") == 0 && strcmp(words[2], "gamma") == 0,
          "words are wrong", rank);
  require(first.next == &second && first.next->value == 2, "a linked constant points elsewhere",
          rank);
  require(end_of_bytes == last_bytes + sizeof last_bytes, "a pointer past the end points elsewhere",
          rank);
  require(environ != NULL && getenv("PATH") != NULL, "there is no environment", rank);
  require(argv[0][0] == (char)('a' + rank % 26), "argv was shared", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  fprintf(stdout, "globals of rank %d of %d are its own\n", rank, size);
  MPI_Finalize();
  return 0;
}
