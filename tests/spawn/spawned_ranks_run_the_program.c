// Ranks that are spawned run the same program with globals, arguments and an MPI_COMM_WORLD of
// their own; the intercommunicator to their parents carries messages and collectives, and both
// merge.
#include "spawn.h"

enum { spawned_count = 5 };

static int global = 1;

/// Both sides.
static void talk(MPI_Comm inter, int is_parent) {
  const int rank = rank_in(inter), peers = remote_size_of(inter);
  int i, value = 1000 * is_parent + rank, sum = -1, word = -1;
  // Everyone to everyone.
  for (i = 0; i < peers; i++)
    MPI_Send(&value, 1, MPI_INT, i, 3, inter);
  for (i = 0; i < peers; i++) {
    MPI_Recv(&word, 1, MPI_INT, i, 3, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(word, 1000 * !is_parent + i);
  }
  static char large[200000];
  pattern_fill(large, sizeof large, 7);
  if (is_parent) {
    if (rank == 0) MPI_Ssend(large, sizeof large, MPI_CHAR, peers - 1, 4, inter);
  } else if (rank == size_of(inter) - 1) {
    memset(large, 0, sizeof large);
    MPI_Recv(large, sizeof large, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
    CHECK_PATTERN(large, sizeof large, 7);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK_EQUAL(sum, peers * (peers - 1) / 2);
  word = is_parent ? 42 : -1;
  MPI_Bcast(&word, 1, MPI_INT, is_parent ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  CHECK_EQUAL(word, 42);
}

static void merge(MPI_Comm inter, int is_parent) {
  MPI_Comm all;
  const int total = size_of(inter) + remote_size_of(inter);
  MPI_Intercomm_merge(inter, !is_parent, &all);
  CHECK_EQUAL(size_of(all), total);
  CHECK_EQUAL(rank_in(all), rank_in(inter) + (is_parent ? 0 : remote_size_of(inter)));
  int i, own = rank_in(all), *ranks = (int*)malloc((size_t)total * sizeof *ranks);
  MPI_Allgather(&own, 1, MPI_INT, ranks, 1, MPI_INT, all);
  for (i = 0; i < total; i++)
    CHECK_EQUAL(ranks[i], i);
  // A window and a communicator of a part, as of any communicator.
  MPI_Win win;
  int* cell;
  MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, all, &cell, &win);
  *cell = -1;
  MPI_Win_fence(0, win);
  MPI_Put(&own, 1, MPI_INT, (own + 1) % total, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(*cell, (own + total - 1) % total);
  MPI_Win_free(&win);
  MPI_Comm part;
  MPI_Comm_split(all, own % 2, own, &part);
  CHECK_EQUAL(rank_in(part), own / 2);
  MPI_Barrier(part);
  MPI_Comm_free(&part);
  MPI_Comm_free(&all);
  free(ranks);
}

static int child(int argc, char** argv, MPI_Comm parent) {
  int flag = 0, length = 0;
  char value[64] = "";
  CHECK_EQUAL(size_of(MPI_COMM_WORLD), spawned_count);
  CHECK_EQUAL(argc, 3);
  CHECK_EQUAL(strcmp(argv[1], "first word"), 0);
  CHECK_EQUAL(strcmp(argv[2], "2"), 0);
  CHECK(argv[3] == NULL);
  CHECK_EQUAL(global, 1);
  global += 1 + rank_in(MPI_COMM_WORLD);
  CHECK_EQUAL(attribute_of_world(MPI_APPNUM), 0);
  CHECK(attribute_of_world(MPI_UNIVERSE_SIZE) >= spawned_count);
  CHECK_EQUAL(atoi(getenv("SORREL_RANK") ? getenv("SORREL_RANK") : getenv("PMI_RANK")),
              rank_in(MPI_COMM_WORLD));
  length = sizeof value;
  MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &length, value, &flag);
  CHECK(flag && atoi(value) == spawned_count);
  MPI_Comm again = parent_of_world();
  CHECK(again == parent);
  talk(parent, 0);
  merge(parent, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(global, 2 + rank_in(MPI_COMM_WORLD));
  MPI_Comm_disconnect(&parent);
  CHECK(parent_of_world() == MPI_COMM_NULL);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world(), inter;
  if (parent != MPI_COMM_NULL) return child(argc, argv, parent);
  char first[] = "first word", second[] = "2";
  char* words[] = {first, second, NULL};
  int errors[spawned_count], i;
  global = 77;
  const int root = size_of(MPI_COMM_WORLD) - 1;
  MPI_Comm_spawn(argv[0], words, spawned_count, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter,
                 errors);
  for (i = 0; i < spawned_count; i++)
    CHECK_EQUAL(errors[i], MPI_SUCCESS);
  CHECK_EQUAL(remote_size_of(inter), spawned_count);
  CHECK_EQUAL(size_of(inter), size_of(MPI_COMM_WORLD));
  talk(inter, 1);
  merge(inter, 1);
  MPI_Comm_disconnect(&inter);
  CHECK_EQUAL(global, 77);
  CHECK_EQUAL(attribute_of_world(MPI_APPNUM), 0);
  MPI_Finalize();
  return 0;
}
