// Ranks are spawned and end many times: memory, maps and threads stay as they are after the first
// rounds. The argument is the number of rounds.
#include "spawn.h"

/// A number in a file of the system's: pages of the process, its maps, its threads.
static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
  fclose(file);
  return resident;
}

static long lines_in(const char* path) {
  long lines = 0;
  int c;
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  while ((c = getc(file)) != EOF)
    lines += c == '\n';
  fclose(file);
  return lines;
}

static char zeroes[1 << 16];

static int child(MPI_Comm parent) {
  int word = rank_in(MPI_COMM_WORLD), i;
  // Memory of all kinds, which is gone with the rank.
  for (i = 0; i < (int)sizeof zeroes; i++)
    CHECK_EQUAL(zeroes[i], 0);
  memset(zeroes, 1, sizeof zeroes);
  char* block = (char*)malloc(1 << 20);
  memset(block, 1, 1 << 20);
  MPI_Send(&word, 1, MPI_INT, 0, 0, parent);
  // Half of them do not disconnect.
  MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
  if (word % 2 == 0) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return block[12345] == 1 ? 0 : 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world();
  if (parent != MPI_COMM_NULL) return child(parent);
  const int rounds = atoi(argv[1]), warm = rounds / 4;
  long pages = 0, maps = 0;
  int round;
  for (round = 0; round < rounds; round++) {
    MPI_Comm inter;
    int i, word;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                   MPI_ERRCODES_IGNORE);
    for (i = 0; i < 2; i++) {
      MPI_Recv(&word, 1, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE);
      CHECK_EQUAL(word, i);
      MPI_Send(&round, 1, MPI_INT, i, 0, inter);
    }
    if (round % 2 == 0) {
      MPI_Comm_disconnect(&inter);
    } else {
      MPI_Comm_free(&inter);
    }
    if (round == warm) {
      pages = resident_pages();
      maps = lines_in("/proc/self/maps");
    }
  }
  // Some ranks may not have ended yet; each has 1 MiB of its heap and more.
  const long more_pages = resident_pages() - pages, more_maps = lines_in("/proc/self/maps") - maps;
  printf("%ld pages and %ld maps more after %d rounds\n", more_pages, more_maps, rounds - warm);
  CHECK(more_pages < 20000);
  CHECK(more_maps < 400);
  MPI_Finalize();
  return 0;
}
