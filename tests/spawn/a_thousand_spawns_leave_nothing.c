// Ranks are spawned and end many times: memory, maps, threads and descriptors stay as they are
// after the first rounds. Some children disconnect, some only finalize, and some have a working
// directory of their own. The argument is the number of rounds.
#include <dirent.h>
#include <unistd.h>

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

static long entries_in(const char* path) {
  long entries = 0;
  DIR* folder = opendir(path);
  CHECK(folder != NULL);
  while (readdir(folder) != NULL)
    entries++;
  closedir(folder);
  return entries;
}

/// Descriptors of the process but for those of the system's times of threads: the library opens
/// these when a worker has waited for its core, so a busy machine has more of them.
static long descriptors_now(void) {
  long count = 0;
  DIR* folder = opendir("/proc/self/fd");
  CHECK(folder != NULL);
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char target[4096] = "";
    (void)!readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    const size_t length = strlen(target);
    count += length < 9 || strcmp(target + length - 9, "schedstat") != 0;
  }
  closedir(folder);
  return count;
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
  char program[4096];
  CHECK(realpath(argv[0], program) != NULL);
  long pages = 0, maps = 0, threads = 0, descriptors = 0;
  int round;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/");
  for (round = 0; round < rounds; round++) {
    MPI_Comm inter;
    int i, word;
    // A path from the root: the working directory may be another one.
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, round % 4 < 2 ? info : MPI_INFO_NULL, 0,
                   MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
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
      threads = entries_in("/proc/self/task");
      descriptors = descriptors_now();
    }
  }
  // Some ranks may not have ended yet, with 1 MiB of heap each, threads and descriptors: on a busy
  // machine it takes a while until they have.
  long more_pages = 0, more_maps = 0, more_threads = 0, more_descriptors = 0;
  for (int wait = 0; wait < 3000; wait++) {
    more_pages = resident_pages() - pages;
    more_maps = lines_in("/proc/self/maps") - maps;
    more_threads = entries_in("/proc/self/task") - threads;
    more_descriptors = descriptors_now() - descriptors;
    if (more_pages < 20000 && more_maps < 400 && more_threads < 4 && more_descriptors < 16) break;
    usleep(10000);
  }
  printf("%ld pages and %ld maps more after %d rounds\n", more_pages, more_maps, rounds - warm);
  CHECK(more_pages < 20000);
  CHECK(more_maps < 400);
  CHECK(more_threads < 4);
  CHECK(more_descriptors < 16);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
