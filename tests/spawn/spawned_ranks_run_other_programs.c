// MPI_Comm_spawn of another executable than the caller's, which a process of the job runs: alone,
// beside ranks of the caller's program in one MPI_COMM_WORLD, and from there back. Failures leave
// nothing. Usage: OTHER-PROGRAM [ROUNDS].
#include "spawn.h"

static char* other;

static int child(char** argv, MPI_Comm parent) {
  int number = rank_in(MPI_COMM_WORLD), sum = 0, one = 1;
  if (strcmp(argv[1], "grandchild") == 0) {
    CHECK_EQUAL(size_of(MPI_COMM_WORLD), 2);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    CHECK(sum > 0);
  } else {
    CHECK_EQUAL(size_of(MPI_COMM_WORLD), 6);
    CHECK_EQUAL(attribute_of_world(MPI_APPNUM), 1);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, 15);
    MPI_Barrier(parent);
  }
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void alone(int count) {
  char name[] = "alone", number[16], empty[] = "", *words[] = {name, number, empty, NULL};
  int errors[64], i, answer = 4711;
  MPI_Comm inter, all;
  MPI_Info info;
  snprintf(number, sizeof number, "%d", count);
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/");
  CHECK_EQUAL(MPI_Comm_spawn(other, words, count, info, 0, MPI_COMM_WORLD, &inter, errors),
              MPI_SUCCESS);
  for (i = 0; i < count; i++)
    CHECK_EQUAL(errors[i], MPI_SUCCESS);
  CHECK_EQUAL(remote_size_of(inter), count);
  MPI_Bcast(&answer, 1, MPI_INT, rank_in(MPI_COMM_WORLD) == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Intercomm_merge(inter, 0, &all);
  CHECK_EQUAL(rank_in(all), rank_in(MPI_COMM_WORLD));
  MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  MPI_Info_free(&info);
}

/// The second command starts the caller's program.
static void multiple(char* own) {
  char* commands[3] = {other, own, other};
  char name[] = "multiple", *words[] = {name, NULL}, **all_words[3] = {words, words, words};
  const int counts[3] = {1, 2, 3};
  const MPI_Info infos[3] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
  int errors[6], i;
  MPI_Comm inter;
  CHECK_EQUAL(MPI_Comm_spawn_multiple(3, commands, all_words, counts, infos, 0, MPI_COMM_WORLD,
                                      &inter, errors),
              MPI_SUCCESS);
  for (i = 0; i < 6; i++)
    CHECK_EQUAL(errors[i], MPI_SUCCESS);
  CHECK_EQUAL(remote_size_of(inter), 6);
  MPI_Barrier(inter);
  MPI_Comm_disconnect(&inter);
}

/// The folder of the info key path has the program.
static void by_path(char* own) {
  char folder[4096], name[] = "back", *words[] = {name, own, NULL};
  MPI_Comm inter;
  MPI_Info info;
  snprintf(folder, sizeof folder, "/no/such/folder:%s", other);
  *strrchr(folder, '/') = '\0';
  MPI_Info_create(&info);
  MPI_Info_set(info, "path", folder);
  CHECK_EQUAL(MPI_Comm_spawn(strrchr(other, '/') + 1, words, 2, info, 0, MPI_COMM_SELF, &inter,
                             MPI_ERRCODES_IGNORE),
              MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  MPI_Info_free(&info);
}

static void fails(char* first, char* second, int count) {
  char* commands[2] = {first, second};
  const int counts[2] = {1, count};
  const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int errors[2048], i;
  MPI_Comm inter = MPI_COMM_WORLD;
  CHECK(1 + count <= 2048);
  CHECK_EQUAL(class_of(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0,
                                               MPI_COMM_WORLD, &inter, errors)),
              MPI_ERR_SPAWN);
  CHECK(inter == MPI_COMM_NULL);
  for (i = 0; i <= count; i++)
    CHECK_EQUAL(errors[i], MPI_ERR_SPAWN);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world();
  if (parent != MPI_COMM_NULL) return child(argv, parent);
  other = argv[1];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int places = attribute_of_world(MPI_UNIVERSE_SIZE) - size_of(MPI_COMM_WORLD);
  const int rounds = argc > 2 ? atoi(argv[2]) : 3;
  char missing[] = "/no/such/program", elsewhere[] = "/bin/sh", late[] = "late";
  char* words[] = {late, NULL};
  MPI_Comm inter;
  int round;
  for (round = 0; round < rounds; round++) {
    alone(1 + round % 7);
    multiple(argv[0]);
    by_path(argv[0]);
    fails(other, missing, 1);
    fails(argv[0], elsewhere, 1);
    fails(other, argv[0], places + 1);
    fails(argv[0], other, places + 1);
  }
  // With as many ranks as there are places for.
  CHECK_EQUAL(MPI_Comm_spawn(other, words, places, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE),
              MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}
