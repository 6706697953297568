/* A job whose first rank starts ranks, exchanges messages with them and disconnects, over and over
 * for so many milliseconds: spawn_load MILLISECONDS [ENDING [ROOT]]. With an ENDING, three more
 * ranks are started then, of which the middle one ends in this way, while all other ranks wait for
 * it. The rank ROOT of the job starts ranks instead of the first one. Without an ENDING the job
 * ends with one line, "over". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { each = 3, middle = 1, word_count = 20000 };

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/* Returns the status with which the rank leaves main() without MPI_Finalize. */
static int end_by(const char* ending, MPI_Comm parent) {
  if (strcmp(ending, "SIGKILL") == 0) kill(getpid(), SIGKILL);
  if (strcmp(ending, "SIGSEGV") == 0) *(volatile int*)NULL = 1;
  if (strcmp(ending, "abort") == 0) abort();
  if (strcmp(ending, "exit") == 0) exit(7);
  if (strcmp(ending, "exit0") == 0) exit(0);
  if (strcmp(ending, "_exit") == 0) _exit(7);
  if (strcmp(ending, "MPI_Abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(ending, "disconnected") == 0) MPI_Comm_disconnect(&parent);
  return 7;
}

static int run_child(const char* ending, MPI_Comm parent) {
  static int words[word_count];
  const int rank = rank_in(MPI_COMM_WORLD);
  int i;
  if (*ending != '\0') {
    /* The parents have disconnected, where they are to. */
    if (rank == middle) return end_by(ending, parent);
    if (strcmp(ending, "disconnected") == 0) MPI_Comm_disconnect(&parent);
    MPI_Recv(words, 1, MPI_INT, middle, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Recv(words, word_count, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
  for (i = 0; i < word_count; i++)
    words[i] += rank;
  MPI_Send(words, word_count, MPI_INT, 0, 2, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static MPI_Comm spawn(char* program, char* ending) {
  char* words[] = {"child", ending, NULL};
  MPI_Comm made;
  MPI_Comm_spawn(program, words, each, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made, MPI_ERRCODES_IGNORE);
  return made;
}

static void run_round(char* program) {
  static int to[word_count], from[word_count];
  MPI_Comm children = spawn(program, "");
  int child;
  for (child = 0; child < each; child++)
    MPI_Send(to, word_count, MPI_INT, child, 1, children);
  for (child = 0; child < each; child++) {
    MPI_Recv(from, word_count, MPI_INT, child, 2, children, MPI_STATUS_IGNORE);
    if (from[0] != child || from[word_count - 1] != child) {
      puts("wrong values");
      MPI_Abort(MPI_COMM_WORLD, 99);
    }
  }
  MPI_Comm_disconnect(&children);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return run_child(argv[2], parent);
  const double began = MPI_Wtime(), limit_s = atof(argv[1]) * 1e-3;
  const int root = argc > 3 ? atoi(argv[3]) : 0;
  if (rank_in(MPI_COMM_WORLD) == root) {
    do
      run_round(argv[0]);
    while (MPI_Wtime() - began < limit_s);
    if (argc > 2) {
      MPI_Comm children = spawn(argv[0], argv[2]);
      int word;
      if (strcmp(argv[2], "disconnected") == 0) {
        MPI_Comm_disconnect(&children);
      } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 9, children, MPI_STATUS_IGNORE);
      }
    }
    puts("over");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
