// What spawned_ranks_run_other_programs.c starts: another executable than that of the job's ranks.
#include <unistd.h>

#include "spawn.h"

/// Ranks of this program start one of the program that has started them.
static void start_back(char* program) {
  char word[] = "grandchild", *words[] = {word, NULL};
  MPI_Comm inter;
  int sum = 0, one = 1;
  MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  CHECK_EQUAL(remote_size_of(inter), 2);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK_EQUAL(sum, 2);
  MPI_Comm_disconnect(&inter);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world(), all;
  CHECK(parent != MPI_COMM_NULL);
  CHECK(strstr(argv[0], "other_program") != NULL);
  char directory[4096];
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  int sum = 0, number = rank;
  if (strcmp(argv[1], "alone") == 0) {
    CHECK_EQUAL(argc, 4);
    CHECK_EQUAL(size, atoi(argv[2]));
    CHECK_EQUAL(strcmp(argv[3], ""), 0);
    CHECK_EQUAL(attribute_of_world(MPI_APPNUM), 0);
    CHECK(getcwd(directory, sizeof directory) != NULL);
    CHECK_EQUAL(strcmp(directory, "/"), 0);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    MPI_Bcast(&number, 1, MPI_INT, 0, parent);
    CHECK_EQUAL(number, 4711);
    MPI_Intercomm_merge(parent, 1, &all);
    CHECK_EQUAL(rank_in(all), size_of(all) - size + rank);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
  } else if (strcmp(argv[1], "multiple") == 0) {
    CHECK_EQUAL(size, 6);
    CHECK_EQUAL(attribute_of_world(MPI_APPNUM), rank < 1 ? 0 : 2);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, 15);
    MPI_Barrier(parent);
  } else if (strcmp(argv[1], "back") == 0) {
    start_back(argv[2]);
  } else {
    CHECK_EQUAL(strcmp(argv[1], "late"), 0);
    MPI_Comm_disconnect(&parent);
    // The ranks with which the job began end meanwhile.
    usleep(100000);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}
