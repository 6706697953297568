// Programs with an error: `errors KIND`. If one rank has the error, it is rank 1 of at least three,
// and the others wait.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, ranks;
static void (*volatile nothing_to_call)(void);

static int is(const char* kind, const char* name) {
  return strcmp(kind, name) == 0;
}

static void* call_from_thread(void* nothing) {
  MPI_Barrier(MPI_COMM_WORLD);
  return nothing;
}

static void* crash_in_thread(void* nothing) {
  *(volatile int*)8 = 1;
  return nothing;
}

/// Writes until a further write would block.
static void fill_standard_error(void) {
  static char text[4096];
  const int flags = fcntl(STDERR_FILENO, F_GETFL);
  fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
  for (size_t size = sizeof text; size > 0; size /= 2) {
    while (write(STDERR_FILENO, text, size) > 0) {
    }
  }
  fcntl(STDERR_FILENO, F_SETFL, flags);
}

/// The crash of a child does not concern its rank.
static void crash_in_child(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) *(volatile int*)8 = 1;
  waitpid(child, &status, 0);
  printf("the child died of signal %d\n", WTERMSIG(status));
}

/// Uses about `depth` KiB of stack.
static int recurse(int depth) {
  volatile char frame[1024];
  frame[0] = (char)depth;
  frame[sizeof frame - 1] = frame[0];
  return depth == 0 ? frame[0] : recurse(depth - 1) + frame[sizeof frame - 1];
}

/// Errors that end a process.
static void end_badly(const char* kind) {
  volatile int zero = 0;
  int* volatile nowhere = NULL;
  if (is(kind, "exit_without_finalize")) exit(4);
  if (is(kind, "exit_0_without_finalize")) exit(0);
  if (is(kind, "pthread_exit_without_finalize")) pthread_exit(NULL);
  if (is(kind, "abort")) abort();
  if (is(kind, "segmentation_fault")) *nowhere = 1;
  if (is(kind, "division_by_zero")) printf("%d\n", ranks / zero);
  if (is(kind, "stack_overflow")) printf("%d\n", recurse(2000));
  if (is(kind, "mpi_abort")) MPI_Abort(MPI_COMM_WORLD, 77);
  if (is(kind, "raise")) raise(SIGILL);
  if (is(kind, "crash_in_a_call")) {
    MPI_Sendrecv((void*)8, 1, MPI_INT, 0, 0, &ranks, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
  }
  if (is(kind, "call_of_nothing")) nothing_to_call();
  if (is(kind, "jump_to_nowhere")) ((void (*)(void))0x1234)();
#if defined(__x86_64__)
  if (is(kind, "non_canonical_address")) *(volatile int*)0x8000000000000000 = 1;
  if (is(kind, "privileged_instruction")) __asm__ volatile("hlt");
#endif
  if (is(kind, "child")) crash_in_child();
  if (is(kind, "stuck_reader")) {
    fill_standard_error();
    abort();
  }
  if (is(kind, "thread_crash")) {
    pthread_t thread;
    pthread_create(&thread, NULL, crash_in_thread, NULL);
    pthread_join(thread, NULL);
  }
  if (is(kind, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, call_from_thread, NULL);
    pthread_join(thread, NULL);
  }
}

/// Calls that are MPI errors; MPI_ERRORS_ARE_FATAL is the default.
static void call_badly(const char* kind) {
  int value = 0;
  MPI_Datatype uncommitted;
  if (is(kind, "rank")) MPI_Send(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
  if (is(kind, "source")) MPI_Recv(&value, 1, MPI_INT, -9, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is(kind, "tag")) MPI_Send(&value, 1, MPI_INT, 0, -3, MPI_COMM_WORLD);
  if (is(kind, "communicator")) MPI_Barrier(MPI_COMM_NULL);
  if (is(kind, "garbage_communicator")) MPI_Barrier((MPI_Comm)&value);
  if (is(kind, "datatype")) MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  if (is(kind, "uncommitted")) {
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Send(&value, 1, uncommitted, 0, 0, MPI_COMM_WORLD);
  }
  if (is(kind, "count")) MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (is(kind, "buffer")) MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (is(kind, "op")) MPI_Allreduce(&value, &ranks, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
  if (is(kind, "op_on_type")) MPI_Allreduce(&value, &ranks, 1, MPI_FLOAT, MPI_BXOR, MPI_COMM_WORLD);
  if (is(kind, "op_on_derived_type")) {
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    MPI_Type_commit(&uncommitted);
    MPI_Allreduce(&value, &ranks, 1, uncommitted, MPI_SUM, MPI_COMM_WORLD);
  }
  if (is(kind, "root")) MPI_Bcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD);
  if (is(kind, "init_twice")) MPI_Init(NULL, NULL);
}

static void truncate_message(void) {
  int values[4] = {0, 0, 0, 0};
  if (me == 0) MPI_Send(values, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
  if (me == 1) MPI_Recv(values, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int read_input(void) {
  int sum = 0, number;
  while (scanf("%d", &number) == 1)
    sum += number;
  int all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("sum %d, of all %d\n", sum, all);
  return all != 6;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  if (is(kind, "before_init")) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int status = 0;
  if (is(kind, "input")) status = read_input();
  if (is(kind, "deep")) status = recurse(2000) == 12345;
  if (is(kind, "truncation")) truncate_message();
  if (me == 1) {
    printf("rank 1 said this before\n");
    end_badly(kind);
    call_badly(kind);
  }
  if (is(kind, "waits_for_ever")) {
    // Computes, so that only a signal from outside ends it.
    if (me == 0) puts("started");
    fflush(stdout);
    for (int flag = 0; flag == 0;)
      MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (is(kind, "after_finalize")) MPI_Barrier(MPI_COMM_WORLD);
  if (is(kind, "statuses")) status = me % 5;
  return status;
}
