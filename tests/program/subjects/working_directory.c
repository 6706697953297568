// Working directory and file mode mask: each rank has its own, in every way of using them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OWN
#define OWN
#endif

static OWN int faults;
static int rank, ranks;
static char start[4096], base[4096], own[4200];

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

// Lets the other ranks run.
static void switch_ranks(void) {
  for (int i = 0; i < 3; ++i)
    MPI_Barrier(MPI_COMM_WORLD);
}

// Lets the other ranks run, by calls that not all ranks make.
static void yield_to_ranks(void) {
  for (int i = 0; i < 10; ++i)
    sched_yield();
}

static int is_in(const char* directory) {
  char path[4300];
  return getcwd(path, sizeof path) != NULL && strcmp(path, directory) == 0;
}

static int is_text_of(FILE* file, const char* expected) {
  char text[4300] = "";
  if (file == NULL || fgets(text, sizeof text, file) == NULL) return 0;
  text[strcspn(text, "\n")] = '\0';
  return strcmp(text, expected) == 0;
}

static mode_t mask_now(void) {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

static void* see_directory(void* is_right) {
  *(int*)is_right = is_in(own);
  return NULL;
}

static atomic_int are_changed;

static void* see_start(void* is_right) {
  while (!atomic_load(&are_changed))
    usleep(1000);
  *(int*)is_right = 1;
  for (int i = 0; i < 1000; ++i)
    *(int*)is_right &= is_in(start);
  return NULL;
}

// A thread keeps the directory with which it has begun, and its own changes are its own.
static void* change_directory(void* is_right) {
  *(int*)is_right &= is_in(own) && chdir("/") == 0 && is_in("/");
  return NULL;
}

static void check_threads(void) {
  int are_right[2] = {0, 1};
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, see_start, &are_right[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  check(chdir(own) == 0, "chdir");
  atomic_store(&are_changed, 1);
  for (int i = 0; i < 1000; ++i)
    switch_ranks();
  pthread_create(&threads[1], NULL, change_directory, &are_right[1]);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  switch_ranks();
  check(are_right[0], "thread before the change");
  check(are_right[1] && is_in(own), "thread that changes");
}

static OWN int files_seen;

static int see_file(const char* path, const struct stat* status, int kind, struct FTW* place) {
  (void)status;
  yield_to_ranks();
  if (kind == FTW_F) files_seen += access(path + place->base, F_OK) == 0;
  return 0;
}

static void check_walks(void) {
  mkdir("sub", 0777);
  const int file = open("sub/file", O_CREAT | O_WRONLY, 0666);
  close(file);
  files_seen = 0;
  check(nftw("sub", see_file, 8, FTW_CHDIR | FTW_PHYS) == 0 && files_seen == 1, "nftw");
  check(is_in(own), "directory after nftw");
  char name[] = "sub";
  char* const paths[] = {name, NULL};
  FTS* walk = fts_open(paths, FTS_PHYSICAL, NULL);
  int found = 0;
  for (const FTSENT* entry; (entry = fts_read(walk)) != NULL;) {
    yield_to_ranks();
    found += entry->fts_info == FTS_F && access(entry->fts_accpath, F_OK) == 0;
  }
  fts_close(walk);
  check(found == 1 && is_in(own), "fts");
}

static void check_children(void) {
  FILE* pipe = popen("pwd", "r");
  check(is_text_of(pipe, own), "popen");
  pclose(pipe);
  check(system("pwd > of_system") == 0, "system");
  FILE* file = fopen("of_system", "r");
  check(is_text_of(file, own), "directory of system");
  fclose(file);
  const pid_t child = fork();
  if (child == 0) _exit(is_in(own) && chdir("/") == 0 && is_in("/") ? 5 : 1);
  int status = 0;
  check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "fork");
}

static void check_removed(void) {
  char path[64];
  check(mkdir("gone", 0777) == 0 && chdir("gone") == 0 && rmdir("../gone") == 0, "rmdir");
  yield_to_ranks();
  errno = 0;
  check(getcwd(path, sizeof path) == NULL && errno == ENOENT, "removed directory");
  check(chdir(own) == 0, "chdir out of a removed directory");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(getcwd(start, sizeof start) != NULL, "getcwd");
  const mode_t start_mask = mask_now();
  // With an argument, no descriptors are used.
  const int start_file = argc < 2 ? open(".", O_RDONLY | O_DIRECTORY) : -1;
  strcpy(base, "/tmp/sorrel-directories-XXXXXX");
  if (rank == 0) check(mkdtemp(base) != NULL, "mkdtemp");
  MPI_Bcast(base, sizeof base, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(own, sizeof own, "%s/%d", base, rank);
  mkdir(own, 0777);
  switch_ranks();
  // The first rank stays.
  if (rank == 0) strcpy(own, start);
  if (argc > 1 && strcmp(argv[1], "threads") == 0) check_threads();
  for (int i = 0; i < 10; ++i) {
    if (rank != 0) check(chdir(i % 2 == 0 ? base : own) == 0, "chdir");
    if (rank != 0) umask((mode_t)(rank & 0777));
    switch_ranks();
    check(is_in(rank != 0 && i % 2 == 0 ? base : own), "directory");
    check(mask_now() == (rank != 0 ? (mode_t)(rank & 0777) : start_mask), "mask");
  }
  if (rank != 0) {
    FILE* file = fopen("mark", "w");
    fprintf(file, "%d\n", rank);
    fclose(file);
    struct stat status;
    check(stat("mark", &status) == 0 && (status.st_mode & 0777) == (0666 & ~(mode_t)rank), "mode");
  }
  check(chdir("no such directory") != 0 && errno == ENOENT && is_in(own), "failing chdir");
  switch_ranks();
  if (argc < 2) {
    int is_right = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, see_directory, &is_right);
    pthread_join(thread, NULL);
    check(is_right, "thread");
    if (rank != 0) {
      check_children();
      check_removed();
    }
    if (rank != 0) check_walks();
  }
  switch_ranks();
  check((start_file >= 0 ? fchdir(start_file) : chdir(start)) == 0, "return");
  switch_ranks();
  check(is_in(start), "directory at the start");
  if (rank == 0) {
    char command[4200];
    snprintf(command, sizeof command, "rm -rf %s", base);
    check(system(command) == 0, "rm");
  }
  MPI_Finalize();
  if (faults == 0) printf("directory of rank %d is its own\n", rank);
  return faults != 0;
}
