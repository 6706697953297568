// A master starts workers one at a time, gives them work until they get the word to end, and starts
// more meanwhile; workers start ranks themselves. Parents may end before their children.
#include "spawn.h"

enum { worker_count = 64, tasks_each = 5 };

static int grandchild(MPI_Comm parent) {
  int word = 5;
  MPI_Send(&word, 1, MPI_INT, 0, 9, parent);
  MPI_Finalize();
  return 0;
}

static int worker(char** argv, MPI_Comm parent) {
  int task, result;
  if (strcmp(argv[1], "grandchild") == 0) return grandchild(parent);
  if (strcmp(argv[1], "orphan") == 0) {
    // Its parents have nothing more to do with it.
    MPI_Comm_disconnect(&parent);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  }
  if (atoi(argv[1]) % 16 == 0) {
    char name[] = "grandchild", *words[] = {name, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Recv(&task, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(task, 5);
    MPI_Comm_free(&inter);
  }
  for (;;) {
    MPI_Recv(&task, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    if (task < 0) break;
    result = task * task;
    MPI_Send(&result, 1, MPI_INT, 0, 2, parent);
  }
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void run_workers(char* program) {
  MPI_Comm workers[worker_count];
  int i, task, result;
  for (i = 0; i < worker_count; i++) {
    char number[16], *words[] = {number, NULL};
    snprintf(number, sizeof number, "%d", i);
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &workers[i],
                   MPI_ERRCODES_IGNORE);
    task = i;
    MPI_Send(&task, 1, MPI_INT, 0, 1, workers[i]);
  }
  for (task = 1; task < tasks_each; task++) {
    for (i = 0; i < worker_count; i++) {
      MPI_Recv(&result, 1, MPI_INT, 0, 2, workers[i], MPI_STATUS_IGNORE);
      const int before = i + (task - 1) * 100, next = i + task * 100;
      CHECK_EQUAL(result, before * before);
      MPI_Send(&next, 1, MPI_INT, 0, 1, workers[i]);
    }
  }
  for (i = 0; i < worker_count; i++) {
    const int end = -1;
    MPI_Recv(&result, 1, MPI_INT, 0, 2, workers[i], MPI_STATUS_IGNORE);
    MPI_Send(&end, 1, MPI_INT, 0, 1, workers[i]);
    MPI_Comm_disconnect(&workers[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world(), orphans;
  if (parent != MPI_COMM_NULL) return worker(argv, parent);
  run_workers(argv[0]);
  char name[] = "orphan", *words[] = {name, NULL};
  MPI_Comm_spawn(argv[0], words, 7, MPI_INFO_NULL, 0, MPI_COMM_SELF, &orphans, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&orphans);
  MPI_Finalize();
  return 0;
}
