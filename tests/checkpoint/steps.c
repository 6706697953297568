// Steps of a relaxation on a ring of rows, whose history of residuals depends on every bit of the
// state of all ranks. Saves the job every few steps. What a rank keeps across a checkpoint: memory
// of all kinds, a message that was sent and not received, the argument and environment lists, the
// sequence of rand(), thread-local and static variables.
//
// usage: steps STEPS EVERY [DIE [REFUSED [RANK]]]
//   DIE: the number of checkpoints after which rank 1 kills the process, unless the job was
//   restarted; 0: never. REFUSED: what keeps the job from being saved: file, stream, map, break,
//   protect, unforked, wiped, window, request, thread, directory, locale, environment, coroutine;
//   or domain: what keeps a rank in its process; or block: 400 KiB more are in use; or sleep: a
//   while without a collective; or limit: after two checkpoints, no file may be longer than 20000
//   bytes; or die, or abort: after step 12 of any life. RANK: which rank has it; the last one.
// With STEPS_UNTIL=FILE in the environment it makes 100 steps more, again and again, until the file
// exists.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libintl.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <sorrel.h>

enum { row_length = 500, late_tag = 7, block_bytes = 400 << 10 };

static int saved_count;
static int is_restarted;
static int is_limited;
static int kills_itself;
static int aborts;
static _Thread_local double offset;
static char* path;
static void* volatile block;

static void* wait_for_ever(void* unused) {
  pause();
  return unused;
}

static void allocate(void) {
  path = malloc(100);
}

static void allocate_in_coroutine(void) {
  static char stack[16384];
  static ucontext_t inside;
  static ucontext_t outside;
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = sizeof stack;
  inside.uc_link = &outside;
  makecontext(&inside, allocate, 0);
  swapcontext(&outside, &inside);
}

static void hold(const char* what) {
  static MPI_Win window;
  static MPI_Request request;
  static int word;
  pthread_t thread;
  if (strcmp(what, "file") == 0) open("/proc/self/stat", O_RDONLY);
  if (strcmp(what, "stream") == 0) fmemopen(&word, sizeof word, "r");
  if (strcmp(what, "map") == 0)
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (strcmp(what, "break") == 0) sbrk(4096);
  if (strcmp(what, "protect") == 0) {
    void* page = aligned_alloc(4096, 4096);
    mprotect(page, 4096, PROT_READ);
  }
  if (strcmp(what, "unforked") == 0 || strcmp(what, "wiped") == 0) {
    void* page = memset(aligned_alloc(4096, 4096), 1, 4096);
    madvise(page, 4096, strcmp(what, "wiped") == 0 ? MADV_WIPEONFORK : MADV_DONTFORK);
  }
  // The C library keeps a record in the rank's heap.
  if (strcmp(what, "domain") == 0) bindtextdomain("steps", "/tmp");
  if (strcmp(what, "coroutine") == 0) allocate_in_coroutine();
  if (strcmp(what, "window") == 0)
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  if (strcmp(what, "request") == 0) MPI_Irecv(&word, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request);
  if (strcmp(what, "thread") == 0) pthread_create(&thread, NULL, wait_for_ever, NULL);
  if (strcmp(what, "directory") == 0) (void)!chdir("/");
  if (strcmp(what, "block") == 0) block = memset(malloc(block_bytes), 1, block_bytes);
  is_limited |= strcmp(what, "limit") == 0;
  kills_itself |= strcmp(what, "die") == 0;
  aborts |= strcmp(what, "abort") == 0;
  // No collective of all ranks meanwhile.
  if (strcmp(what, "sleep") == 0) sleep(5);
  if (strcmp(what, "locale") == 0 && setlocale(LC_ALL, "C.UTF-8") == NULL) abort();
  if (strcmp(what, "environment") == 0) setenv("STEPS", "1", 1);
}

static void save(int rank, int die) {
  const int outcome = sorrel_checkpoint();
  if (outcome == 1) is_restarted = 1;
  if (outcome == 0) ++saved_count;
  if (is_limited && saved_count == 2)
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 20000, .rlim_max = 20000});
  if (outcome == 1 && rank == 0) printf("restarted\n");
  if (outcome < 0 && rank == 0) printf("refused\n");
  if (!is_restarted && die != 0 && saved_count == die && rank == 1) kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* until = getenv("STEPS_UNTIL");
  int steps = atoi(argv[1]);
  const int every = atoi(argv[2]);
  const int die = argc > 3 ? atoi(argv[3]) : 0;
  if (argc > 4 && rank == (argc > 5 ? atoi(argv[5]) : size - 1)) hold(argv[4]);
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  double* row = malloc((row_length + 2) * sizeof *row);
  srand((unsigned)rank + 1);
  for (int i = 0; i < row_length + 2; ++i)
    row[i] = rand() / (double)RAND_MAX;
  path = strdup(getenv("PATH"));
  offset = 1e-3 * rank;
  for (int step = 1; step <= steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(&row[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&row[row_length + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&row[row_length], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&row[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    double change = 0;
    for (int i = 1; i <= row_length; ++i) {
      const double next =
          (row[i - 1] + row[i] + row[i + 1]) / 3 + offset * 1e-6 * rand() / RAND_MAX;
      change += (next - row[i]) * (next - row[i]);
      row[i] = next;
    }
    const double late = change / 3;
    double received = 0;
    MPI_Send(&late, 1, MPI_DOUBLE, right, late_tag, MPI_COMM_WORLD);
    if (step % every == 0) save(rank, die);
    MPI_Recv(&received, 1, MPI_DOUBLE, left, late_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row[row_length / 2] += received * 1e-3;
    double residual = 0;
    MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d %a\n", step, residual);
    fflush(stdout);
    if (kills_itself && step == 12) kill(getpid(), SIGKILL);
    if (aborts && step == 12) MPI_Abort(MPI_COMM_WORLD, 3);
    if (until == NULL || step != steps) continue;
    int goes_on = access(until, F_OK) != 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (goes_on) steps += 100;
  }
  if (strcmp(path, getenv("PATH")) != 0) return 1;
  if (until == NULL && atoi(argv[1]) != steps) return 1;
  free(row);
  MPI_Finalize();
  return 0;
}
