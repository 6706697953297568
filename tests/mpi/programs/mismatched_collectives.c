// Members of a communicator call different collectives, or the same one with different arguments
// where they must agree: the argument selects the case. With "all": every case in which all ranks
// of one process get an error and the communicator stays usable; else the case ends the job.
#include "../check.h"

static int me, ranks;
/// The rank that differs.
static int odd;
static long in[20000], out[20000];

static int count_of(int usual, int other) {
  return me == odd ? other : usual;
}

static int gather_in_allgather(void) {
  return me == odd ? MPI_Gather(out, 1, MPI_LONG, in, 1, MPI_LONG, odd, MPI_COMM_WORLD)
                   : MPI_Allgather(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
}

static int barrier_in_allreduce(void) {
  return me == odd ? MPI_Barrier(MPI_COMM_WORLD)
                   : MPI_Allreduce(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int allreduce_in_bcast(void) {
  return me == odd ? MPI_Allreduce(out, in, 20000, MPI_LONG, MPI_SUM, MPI_COMM_WORLD)
                   : MPI_Bcast(in, 20000, MPI_LONG, 0, MPI_COMM_WORLD);
}

static int alltoall_in_scatter(void) {
  return me == odd ? MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD)
                   : MPI_Scatter(out, 1, MPI_LONG, in, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

static int gatherv_in_gather(void) {
  static int counts[1024], places[1024];
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1;
    places[i] = i;
  }
  return me == odd ? MPI_Gatherv(out, 1, MPI_LONG, in, counts, places, MPI_LONG, 0, MPI_COMM_WORLD)
                   : MPI_Gather(out, 1, MPI_LONG, in, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

static int dup_in_split(void) {
  MPI_Comm made = MPI_COMM_NULL;
  return me == odd ? MPI_Comm_dup(MPI_COMM_WORLD, &made)
                   : MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
}

static int root_of_bcast(void) {
  return MPI_Bcast(in, 10, MPI_LONG, count_of(0, 1), MPI_COMM_WORLD);
}

static int root_of_reduce(void) {
  return MPI_Reduce(out, in, 20000, MPI_LONG, MPI_SUM, count_of(0, 1), MPI_COMM_WORLD);
}

static int op_of_short_allreduce(void) {
  return MPI_Allreduce(out, in, 1, MPI_LONG, me == odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

/// After equal calls, whose arguments need fewer checks.
static void repeat_allreduce(void) {
  for (int i = 0; i < 3; i++)
    CHECK_EQUAL(MPI_Allreduce(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
}

static int op_of_repeated_allreduce(void) {
  repeat_allreduce();
  return op_of_short_allreduce();
}

static int buffers_of_repeated_allreduce(void) {
  repeat_allreduce();
  const void* operand[] = {NULL, out, in, MPI_IN_PLACE};
  void* result[] = {in, NULL, in, NULL};
  const int i = me % 4;
  return MPI_Allreduce(operand[i], result[i], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int count_of_repeated_allreduce(void) {
  repeat_allreduce();
  return MPI_Allreduce(out, in, -1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int op_of_long_scan(void) {
  return MPI_Scan(out, in, 20000, MPI_LONG, me == odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static int type_of_allreduce(void) {
  return MPI_Allreduce(out, in, 1, me == odd ? MPI_DOUBLE : MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int count_of_short_allreduce(void) {
  return MPI_Allreduce(out, in, count_of(1, 2), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int count_of_allreduces_of_two_kinds(void) {
  return MPI_Allreduce(out, in, count_of(20000, 1), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int count_of_short_bcast(void) {
  return MPI_Bcast(in, count_of(10, 20), MPI_LONG, 0, MPI_COMM_WORLD);
}

static int count_of_long_bcast(void) {
  return MPI_Bcast(in, count_of(10000, 20000), MPI_LONG, 0, MPI_COMM_WORLD);
}

static int count_of_allgather(void) {
  const int count = count_of(1, 2);
  return MPI_Allgather(out, count, MPI_LONG, in, count, MPI_LONG, MPI_COMM_WORLD);
}

static int count_of_gather(void) {
  const int count = count_of(1, 2);
  return MPI_Gather(out, count, MPI_LONG, in, count, MPI_LONG, 0, MPI_COMM_WORLD);
}

static int count_of_alltoall(void) {
  const int count = count_of(1, 2);
  return MPI_Alltoall(out, count, MPI_LONG, in, count, MPI_LONG, MPI_COMM_WORLD);
}

static int barrier_in_finalize(void) {
  return me == odd ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Finalize();
}

static const struct {
  const char* name;
  int (*run)(void);
  int error_class;
} cases[] = {
    {"gather_in_allgather", gather_in_allgather, MPI_ERR_OTHER},
    {"barrier_in_allreduce", barrier_in_allreduce, MPI_ERR_OTHER},
    {"allreduce_in_bcast", allreduce_in_bcast, MPI_ERR_OTHER},
    {"alltoall_in_scatter", alltoall_in_scatter, MPI_ERR_OTHER},
    {"gatherv_in_gather", gatherv_in_gather, MPI_ERR_OTHER},
    {"dup_in_split", dup_in_split, MPI_ERR_OTHER},
    {"root_of_bcast", root_of_bcast, MPI_ERR_ROOT},
    {"root_of_reduce", root_of_reduce, MPI_ERR_ROOT},
    {"op_of_short_allreduce", op_of_short_allreduce, MPI_ERR_OP},
    {"op_of_repeated_allreduce", op_of_repeated_allreduce, MPI_ERR_OP},
    {"buffers_of_repeated_allreduce", buffers_of_repeated_allreduce, MPI_ERR_BUFFER},
    {"count_of_repeated_allreduce", count_of_repeated_allreduce, MPI_ERR_COUNT},
    {"op_of_long_scan", op_of_long_scan, MPI_ERR_OP},
    {"type_of_allreduce", type_of_allreduce, MPI_ERR_TYPE},
    {"count_of_short_allreduce", count_of_short_allreduce, MPI_ERR_TRUNCATE},
    {"count_of_allreduces_of_two_kinds", count_of_allreduces_of_two_kinds, MPI_ERR_TRUNCATE},
    {"count_of_short_bcast", count_of_short_bcast, MPI_ERR_TRUNCATE},
    {"count_of_long_bcast", count_of_long_bcast, MPI_ERR_TRUNCATE},
    {"count_of_allgather", count_of_allgather, MPI_ERR_TRUNCATE},
    {"count_of_gather", count_of_gather, MPI_ERR_TRUNCATE},
    {"count_of_alltoall", count_of_alltoall, MPI_ERR_TRUNCATE},
    {"barrier_in_finalize", barrier_in_finalize, MPI_ERR_OTHER}};

enum { case_count = sizeof cases / sizeof cases[0], recoverable_count = case_count - 1 };

/// A fast rank is in the next collective while a slow one leaves this one.
static void everything_still_works(void) {
  int sum = 0, value = me == 0 ? 17 : 0;
  const int one = 1;
  CHECK_EQUAL(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(value, 17);
  CHECK_EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(sum, ranks);
}

static int call_of_four(int which) {
  if (which == 0) return MPI_Barrier(MPI_COMM_WORLD);
  if (which == 1) return MPI_Allreduce(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Bcast(in, 1, MPI_LONG, which - 2, MPI_COMM_WORLD);
}

/// Several calls, on one worker and on others: every rank gets the error of the same two.
static void all_get_the_same_error(void) {
  for (int round = 0; round < 20; round++) {
    char text[MPI_MAX_ERROR_STRING] = "", first[MPI_MAX_ERROR_STRING];
    int length;
    const int error = call_of_four(ranks == 2 ? 2 + me : (me + round) % 4);
    MPI_Error_string(error, text, &length);
    CHECK(error != MPI_SUCCESS);
    memcpy(first, text, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(strcmp(first, text) == 0);
  }
}

static void run_all(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 30; round++) {
    odd = round % ranks;
    for (int i = 0; i < recoverable_count; i++) {
      int error_class;
      MPI_Error_class(cases[i].run(), &error_class);
      if (error_class != cases[i].error_class) fprintf(stderr, "%s:\n", cases[i].name);
      CHECK_EQUAL(error_class, cases[i].error_class);
      // Every other round two mismatches follow each other at once.
      if (round % 2 == 0) everything_still_works();
    }
  }
  everything_still_works();
  all_get_the_same_error();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  odd = ranks - 1;
  const char* wanted = argc > 1 ? argv[1] : "all";
  if (strcmp(wanted, "all") == 0) {
    run_all();
  } else {
    for (int i = 0; i < case_count; i++)
      if (strcmp(wanted, cases[i].name) == 0) cases[i].run();
    printf("rank %d goes on\n", me);
  }
  MPI_Finalize();
  return 0;
}
