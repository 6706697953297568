// MPI_Comm_spawn_multiple: one MPI_COMM_WORLD for all commands, each with its arguments and its
// number in MPI_APPNUM; the working directory of an info object; soft numbers of ranks.
#include <unistd.h>

#include "spawn.h"

static int child(char** argv, MPI_Comm parent) {
  const int rank = rank_in(MPI_COMM_WORLD), number = attribute_of_world(MPI_APPNUM);
  char directory[4096];
  if (strcmp(argv[1], "multiple") == 0) {
    CHECK_EQUAL(size_of(MPI_COMM_WORLD), 6);
    CHECK_EQUAL(number, rank < 1 ? 0 : rank < 3 ? 1 : 2);
    CHECK_EQUAL(atoi(argv[2]), number);
    CHECK(getcwd(directory, sizeof directory) != NULL);
    CHECK_EQUAL(strcmp(directory, "/") == 0, number == 1);
  } else {
    CHECK_EQUAL(size_of(MPI_COMM_WORLD), atoi(argv[2]));
  }
  MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void multiple(char* program) {
  char* commands[3] = {program, program, program};
  char name[] = "multiple", zero[] = "0", one[] = "1", two[] = "2";
  char *first[] = {name, zero, NULL}, *second[] = {name, one, NULL}, *third[] = {name, two, NULL};
  char** words[3] = {first, second, third};
  const int counts[3] = {1, 2, 3};
  MPI_Info infos[3] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
  int errors[6], i;
  MPI_Comm inter;
  MPI_Info_create(&infos[1]);
  MPI_Info_set(infos[1], "wdir", "/");
  MPI_Comm_spawn_multiple(3, commands, words, counts, infos, 0, MPI_COMM_WORLD, &inter, errors);
  for (i = 0; i < 6; i++)
    CHECK_EQUAL(errors[i], MPI_SUCCESS);
  CHECK_EQUAL(remote_size_of(inter), 6);
  MPI_Barrier(inter);
  MPI_Comm_disconnect(&inter);
  MPI_Info_free(&infos[1]);
}

/// More ranks than the universe has.
static void soft(char* program) {
  const int most = attribute_of_world(MPI_UNIVERSE_SIZE);
  char name[] = "soft", three[] = "3", *words[] = {name, three, NULL};
  int i, *errors = (int*)malloc((size_t)most * sizeof *errors);
  MPI_Info info;
  MPI_Comm inter;
  MPI_Info_create(&info);
  MPI_Info_set(info, "soft", "1:3,100000");
  MPI_Comm_spawn(program, words, most, info, 0, MPI_COMM_WORLD, &inter, errors);
  CHECK_EQUAL(remote_size_of(inter), 3);
  for (i = 0; i < most; i++)
    CHECK_EQUAL(errors[i], i < 3 ? MPI_SUCCESS : MPI_ERR_SPAWN);
  MPI_Barrier(inter);
  MPI_Comm_disconnect(&inter);
  MPI_Info_free(&info);
  free(errors);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world();
  if (parent != MPI_COMM_NULL) return child(argv, parent);
  multiple(argv[0]);
  soft(argv[0]);
  MPI_Finalize();
  return 0;
}
