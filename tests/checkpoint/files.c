// Files that each rank writes and reads step by step, opened in all ways, and kept open. What they
// contain at the end is the same whether ranks move, and whether the job was restarted.
//
// usage: files FOLDER STEPS EVERY [DIE [HELD]]
//   FOLDER has a file `input` with a line for each step. EVERY: steps from one checkpoint to the
//   next. DIE: the step at which rank 1 kills its process, unless the job was restarted; 0: never.
//   HELD: append, a file that is opened for appending; or what keeps a rank where it is: deleted,
//   replaced, locked, dup, within (its own numbers), pipe, wide, memory. Rank 2 has it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <sorrel.h>

static const char* folder;
static int rank;

static void require(int is_right, const char* what) {
  if (is_right) return;
  dprintf(2, "rank %d: wrong: %s: %s\n", rank, what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char* path_of(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
  return path;
}

static FILE* file_of(const char* name, const char* mode) {
  FILE* file = fopen(path_of(name), mode);
  require(file != NULL, name);
  return file;
}

/* Whether the next line of the file is that of the step. */
static int reads_line(int file, int step) {
  char expected[32];
  char line[32];
  const int length = snprintf(expected, sizeof expected, "line %d\n", step);
  return read(file, line, length) == length && memcmp(line, expected, length) == 0;
}

static void hold(const char* what) {
  if (strcmp(what, "deleted") == 0) {
    require(open(path_of(what), O_CREAT | O_RDWR, 0600) >= 0, what);
    unlink(path_of(what));
  }
  if (strcmp(what, "replaced") == 0) {
    require(open(path_of(what), O_CREAT | O_RDWR, 0600) >= 0, what);
    char path[4096];
    snprintf(path, sizeof path, "%s", path_of(what));
    require(mknod(path_of("other"), S_IFREG | 0600, 0) == 0, what);
    require(rename(path_of("other"), path) == 0, what);
  }
  if (strcmp(what, "locked") == 0)
    require(flock(open(path_of(what), O_CREAT | O_RDWR, 0600), LOCK_EX | LOCK_NB) == 0, what);
  if (strcmp(what, "dup") == 0) require(dup(creat(path_of(what), 0600)) >= 0, what);
  if (strcmp(what, "within") == 0) {
    const int file = creat(path_of(what), 0600);
    require(fcntl(file, F_DUPFD, file) >= 0 && creat(path_of("other"), 0600) >= 0, what);
  }
  int ends[2];
  if (strcmp(what, "pipe") == 0) require(pipe(ends) == 0, what);
  if (strcmp(what, "wide") == 0) require(fputwc(L'w', file_of(what, "w")) == L'w', what);
  static char memory[10];
  if (strcmp(what, "memory") == 0) require(fmemopen(memory, sizeof memory, "w") != NULL, what);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  folder = argv[1];
  const int steps = atoi(argv[2]);
  const int every = atoi(argv[3]);
  const int die = argc > 4 ? atoi(argv[4]) : 0;
  const char* held = argc > 5 && rank == 2 ? argv[5] : "";
  FILE* buffered = file_of("buffered", "w");
  FILE* second = file_of("first", "w");
  FILE* plain = file_of("unbuffered", "w");
  static char buffer[300];
  setvbuf(second, buffer, _IOFBF, sizeof buffer);
  setvbuf(plain, NULL, _IONBF, 0);
  FILE* kept = file_of("both", "w+");
  const int raw = open(path_of("raw"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  require(raw > 2 && fcntl(raw, F_GETFD) == FD_CLOEXEC, "open");
  const int made = openat(AT_FDCWD, path_of("made"), O_RDWR | O_CREAT | O_TRUNC, 0644);
  require(made > 2 && fcntl(made, F_GETFD) == 0, "openat");
  char name[4096];
  snprintf(name, sizeof name, "%s/input", folder);
  FILE* input = fopen(name, "r");
  const int nothing = open("/dev/null", O_WRONLY);
  require(input != NULL && nothing > 2, name);
  /* Unknown to the compiler: with _FORTIFY_SOURCE, functions that check the flags open these. */
  volatile int reading = O_RDONLY;
  const int lines = open(name, reading);
  const int lines_again = openat(AT_FDCWD, name, reading);
  if (rank != 0) require(freopen(path_of("out"), "w", stdout) != NULL, "freopen");
  FILE* log = strcmp(held, "append") == 0 ? file_of("append", "a") : NULL;
  hold(held);
  int is_restarted = 0;
  int move_count = 0;
  pid_t process = getpid();
  for (int step = 1; step <= steps; ++step) {
    int number = 0;
    // The stream has a character that was put back when the rank pauses.
    require(fscanf(input, "line %d", &number) == 1 && number == step, "input");
    require(ungetc(fgetc(input), input) == '\n' && ungetc('n', input) == 'n', "ungetc");
    require(reads_line(lines, step) && reads_line(lines_again, step), "lines");
    fprintf(buffered, "rank %d, step %d of %d\n", rank, step, steps);
    if (step == steps / 2) {
      FILE* again = freopen(path_of("second"), "w", second);
      require(again == second, "freopen of a file");
    }
    fprintf(second, "%d ", step * step);
    fprintf(plain, "%d.", step);
    fprintf(kept, "%d\n", step);
    if (log != NULL) require(fprintf(log, "%d\n", step) > 0 && fflush(log) == 0, "append");
    if (step % 7 == 0) {
      rewind(kept);
      int first = 0;
      require(fscanf(kept, "%d", &first) == 1 && first == 1, "what was written");
      require(fseek(kept, 0, SEEK_END) == 0, "fseek");
    }
    require(dprintf(raw, "%d;", step) > 0 && write(made, &step, sizeof step) == sizeof step,
            "write");
    require(write(nothing, "", 1) == 1, "a device");
    if (rank != 0) printf("out %d\n", step);
    MPI_Barrier(MPI_COMM_WORLD);
    move_count += getpid() != process;
    process = getpid();
    if (step % every == 0) {
      const int outcome = sorrel_checkpoint();
      is_restarted |= outcome == 1;
      if (rank == 0 && outcome < 0) printf("refused\n");
    }
    if (rank == 1 && step == die && !is_restarted) kill(getpid(), SIGKILL);
    require(fgetc(input) == 'n' && fgetc(input) == '\n', "what was put back");
  }
  require(fcntl(raw, F_GETFD) == FD_CLOEXEC && fcntl(made, F_GETFD) == 0, "flags of descriptors");
  fclose(second);
  close(raw);
  int all = 0;
  MPI_Allreduce(&move_count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d moves\n", all);
  MPI_Finalize();
  return 0;
}
