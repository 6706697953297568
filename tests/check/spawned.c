/* Ranks that a program starts. */
#include "cases.h"

static char* program;

/* A child sends an int, and may leave a communicator behind. */
static int run_child(const char* what) {
  int value = 1;
  MPI_Comm parent;
  MPI_Init(NULL, NULL);
  MPI_Comm_get_parent(&parent);
  MPI_Send(&value, 1, MPI_INT, 0, 7, parent);
  if (strcmp(what, "leak") == 0) {
    MPI_Comm again;
    MPI_Comm_dup(MPI_COMM_WORLD, &again); /* planted */
  }
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static MPI_Comm start_children(const char* what) {
  char word[16];
  char child[] = "child";
  char* words[] = {child, word, NULL};
  MPI_Comm children;
  snprintf(word, sizeof word, "%s", what);
  MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, world, &children, MPI_ERRCODES_IGNORE);
  return children;
}

static void type_of_child(int wrong) {
  int value;
  MPI_Comm children = start_children("one");
  for (int i = 0; i < 2; ++i) {
    MPI_Recv(&value, 1, wrong ? MPI_FLOAT : MPI_INT, i, 7, children,
             MPI_STATUS_IGNORE); /* planted */
  }
  MPI_Comm_disconnect(&children);
}

static void leak_of_child(int wrong) {
  int value;
  MPI_Comm children = start_children(wrong ? "leak" : "one");
  for (int i = 0; i < 2; ++i)
    MPI_Recv(&value, 1, MPI_INT, i, 7, children, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&children);
}

static const struct check_case cases[] = {
    {"type-of-child", 1, "message-type", type_of_child},
    {"leak-of-child", 1, "leak-communicator", leak_of_child},
};

int main(int argc, char** argv) {
  program = argv[0];
  if (argc > 2 && strcmp(argv[1], "child") == 0) return run_child(argv[2]);
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
