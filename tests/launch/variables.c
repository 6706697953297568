// The variables that number a rank, as the rank, its thread, and its children see them.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* const ranks[] = {"SORREL_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};
static const char* const sizes[] = {"SORREL_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};
static const char* const local_ranks[] = {"SORREL_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "OMPI_COMM_WORLD_LOCAL_RANK"};
static const char* const local_sizes[] = {"SORREL_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE"};

static int before_main = -1;
static int wrong;

static int number_of(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? -1 : atoi(value);
}

__attribute__((constructor)) static void read_before_main(void) {
  before_main = number_of("SORREL_RANK");
}

static void expect(const char* where, const char* name, int value, int expected) {
  if (value == expected) return;
  printf("%s: %s is %d, not %d\n", where, name, value, expected);
  wrong = 1;
}

static void* read_in_thread(void* rank) {
  for (int i = 0; i < 3; ++i)
    expect("thread", ranks[i], number_of(ranks[i]), *(int*)rank);
  return NULL;
}

static void expect_of_command(const char* name, int expected) {
  char command[100];
  snprintf(command, sizeof command, "echo $%s", name);
  FILE* pipe = popen(command, "r");
  int value = -1;
  if (fscanf(pipe, "%d", &value) != 1) value = -1;
  pclose(pipe);
  expect("popen", name, value, expected);
  snprintf(command, sizeof command, "test \"$%s\" = %d", name, expected);
  expect("system", name, WEXITSTATUS(system(command)), 0);
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect("exec", name, status, 0);
}

int main(int argc, char** argv, char** environment) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int local_rank, local_size;
  MPI_Comm_rank(node, &local_rank);
  MPI_Comm_size(node, &local_size);
  MPI_Comm_free(&node);
  for (int i = 0; i < 3; ++i) {
    expect("getenv", ranks[i], number_of(ranks[i]), rank);
    expect("getenv", sizes[i], number_of(sizes[i]), size);
    expect("getenv", local_ranks[i], number_of(local_ranks[i]), local_rank);
    expect("getenv", local_sizes[i], number_of(local_sizes[i]), local_size);
  }
  expect("constructor", "SORREL_RANK", before_main, rank);
  int named = 0;
  for (char** variable = environment; *variable != NULL; ++variable)
    named += strncmp(*variable, "PMI_RANK=", 9) == 0;
  expect("main", "PMI_RANK", named, 1);
  expect_of_command("OMPI_COMM_WORLD_RANK", rank);
  expect_of_command("SORREL_LOCAL_SIZE", local_size);
  pthread_t thread;
  pthread_create(&thread, NULL, read_in_thread, &rank);
  pthread_join(thread, NULL);
  setenv("PMI_RANK", "77", 1);
  expect("setenv", "PMI_RANK", number_of("PMI_RANK"), 77);
  unsetenv("PMI_SIZE");
  expect("unsetenv", "PMI_SIZE", number_of("PMI_SIZE"), -1);
  expect("another variable", "SORREL_SIZE", number_of("SORREL_SIZE"), size);
  int any_wrong;
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks %s\n", size, any_wrong ? "with wrong numbers" : "numbered");
  MPI_Finalize();
  return any_wrong;
}
