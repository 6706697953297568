// Errors of nonblocking and persistent collectives: wrong arguments at the call, members that
// differ at the completion. With "all": every case that leaves the communicator usable in one
// process; else the case that the argument names, which ends the job.
#include "../check.h"

static int me, ranks;
/// The rank that differs.
static int odd;
static long in[20000], out[20000];

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

static int completed(int error, MPI_Request* request) {
  CHECK_EQUAL(error, MPI_SUCCESS);
  CHECK(*request != MPI_REQUEST_NULL);
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int gather_in_allgather(void) {
  MPI_Request request;
  return completed(
      me == odd ? MPI_Igather(out, 1, MPI_LONG, in, 1, MPI_LONG, odd, MPI_COMM_WORLD, &request)
                : MPI_Iallgather(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD, &request),
      &request);
}

static int barrier_in_allreduce(void) {
  MPI_Request request;
  return completed(me == odd
                       ? MPI_Ibarrier(MPI_COMM_WORLD, &request)
                       : MPI_Iallreduce(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request),
                   &request);
}

static int root_of_bcast(void) {
  MPI_Request request;
  return completed(MPI_Ibcast(in, 10, MPI_LONG, me == odd ? 1 : 0, MPI_COMM_WORLD, &request),
                   &request);
}

static int op_of_allreduce(void) {
  MPI_Request request;
  return completed(MPI_Iallreduce(out, in, 20000, MPI_LONG, me == odd ? MPI_MAX : MPI_SUM,
                                  MPI_COMM_WORLD, &request),
                   &request);
}

static int count_of_alltoall(void) {
  const int count = me == odd ? 2 : 1;
  MPI_Request request;
  return completed(
      MPI_Ialltoall(out, count, MPI_LONG, in, count, MPI_LONG, MPI_COMM_WORLD, &request), &request);
}

static int duplicate_in_barrier(void) {
  MPI_Request request;
  MPI_Comm copy;
  return completed(me == odd ? MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request)
                             : MPI_Ibarrier(MPI_COMM_WORLD, &request),
                   &request);
}

/// The calls that make persistent collectives already find it.
static int init_of_two_kinds(void) {
  MPI_Request request;
  return me == odd ? MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request)
                   : MPI_Bcast_init(in, 1, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

/// Never matches: the job ends with a report.
static int barrier_of_two_forms(void) {
  MPI_Request request;
  if (me == odd) return MPI_Barrier(MPI_COMM_WORLD);
  return completed(MPI_Ibarrier(MPI_COMM_WORLD, &request), &request);
}

static int absent_member(void) {
  MPI_Request requests[2];
  MPI_Irecv(in, 1, MPI_LONG, 0, 3, MPI_COMM_SELF, &requests[0]);
  if (me == odd) return MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Iallreduce(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  return MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/// More than can be in progress at once; the last ones wait for an absent member.
static int absent_member_of_many(void) {
  MPI_Request requests[9];
  const int count = me == odd ? 5 : 9;
  for (int i = 0; i < count; i++)
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  return me == odd ? MPI_Recv(in, 1, MPI_LONG, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) : 0;
}

static void overflow(void* left, void* right, int* count, MPI_Datatype* type) {
  volatile char frame[20000];
  memset((void*)frame, *count, sizeof frame);
  if (*count != 0) overflow(left, right, count, type);
  frame[0] = frame[1];
}

static int overflow_of_an_operation(void) {
  MPI_Op op;
  MPI_Request request;
  MPI_Op_create(overflow, 1, &op);
  return completed(MPI_Iallreduce(out, in, 1, MPI_LONG, op, MPI_COMM_WORLD, &request), &request);
}

static const struct {
  const char* name;
  int (*run)(void);
  int error_class;
} cases[] = {{"gather_in_allgather", gather_in_allgather, MPI_ERR_OTHER},
             {"barrier_in_allreduce", barrier_in_allreduce, MPI_ERR_OTHER},
             {"root_of_bcast", root_of_bcast, MPI_ERR_ROOT},
             {"op_of_allreduce", op_of_allreduce, MPI_ERR_OP},
             {"count_of_alltoall", count_of_alltoall, MPI_ERR_TRUNCATE},
             {"duplicate_in_barrier", duplicate_in_barrier, MPI_ERR_OTHER},
             {"init_of_two_kinds", init_of_two_kinds, MPI_ERR_OTHER},
             {"barrier_of_two_forms", barrier_of_two_forms, 0},
             {"absent_member", absent_member, 0},
             {"absent_member_of_many", absent_member_of_many, 0},
             {"overflow_of_an_operation", overflow_of_an_operation, 0}};

enum { case_count = sizeof cases / sizeof cases[0] };

static void everything_still_works(void) {
  int sum = 0;
  const int one = 1;
  MPI_Request request;
  CHECK_EQUAL(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK_EQUAL(sum, ranks);
  CHECK_EQUAL(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
}

/// No member waits for a call that has failed at once.
static void wrong_arguments(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Comm comm = MPI_COMM_WORLD;
  CHECK_EQUAL(class_of(MPI_Ibarrier(MPI_COMM_NULL, &request)), MPI_ERR_COMM);
#define FAILS(error, call)                       \
  do {                                           \
    CHECK_EQUAL(class_of(call), error);          \
    CHECK_EQUAL(request == MPI_REQUEST_NULL, 1); \
  } while (0)
  FAILS(MPI_ERR_ARG, MPI_Ibarrier(comm, NULL));
  FAILS(MPI_ERR_ROOT, MPI_Ibcast(in, 1, MPI_LONG, ranks, comm, &request));
  FAILS(MPI_ERR_COUNT, MPI_Ibcast(in, -1, MPI_LONG, 0, comm, &request));
  FAILS(MPI_ERR_TYPE, MPI_Ibcast(in, 1, MPI_DATATYPE_NULL, 0, comm, &request));
  FAILS(MPI_ERR_BUFFER, MPI_Ibcast(NULL, 1, MPI_LONG, 0, comm, &request));
  FAILS(MPI_ERR_OP, MPI_Iallreduce(out, in, 1, MPI_LONG, MPI_OP_NULL, comm, &request));
  FAILS(MPI_ERR_OP, MPI_Iscan(out, in, 1, MPI_DOUBLE, MPI_BAND, comm, &request));
  FAILS(MPI_ERR_BUFFER, MPI_Iallreduce(in, in, 1, MPI_LONG, MPI_SUM, comm, &request));
  FAILS(MPI_ERR_ARG,
        MPI_Ialltoallv(out, NULL, NULL, MPI_LONG, in, NULL, NULL, MPI_LONG, comm, &request));
  FAILS(MPI_ERR_ARG, MPI_Ireduce_scatter(out, in, NULL, MPI_LONG, MPI_SUM, comm, &request));
  FAILS(MPI_ERR_ROOT,
        MPI_Reduce_init(out, in, 1, MPI_LONG, MPI_SUM, -1, comm, MPI_INFO_NULL, &request));
  FAILS(MPI_ERR_INFO, MPI_Barrier_init(comm, (MPI_Info)(void*)in, &request));
  MPI_Comm copy = MPI_COMM_NULL;
  FAILS(MPI_ERR_INFO, MPI_Comm_idup_with_info(comm, (MPI_Info)(void*)in, &copy, &request));
#undef FAILS
}

static void wrong_uses_of_requests(void) {
  MPI_Request request;
  int value;
  if (me == ranks - 1) MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  CHECK_EQUAL(class_of(MPI_Cancel(&request)), MPI_ERR_REQUEST);
  if (me == 0) {
    // In progress, because the last rank waits.
    CHECK_EQUAL(class_of(MPI_Request_free(&request)), MPI_ERR_REQUEST);
    MPI_Send(&me, 1, MPI_INT, ranks - 1, 9, MPI_COMM_WORLD);
  }
  CHECK_EQUAL(class_of(MPI_Start(&request)), MPI_ERR_REQUEST);
  CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  CHECK_EQUAL(class_of(MPI_Start(&request)), MPI_ERR_REQUEST);
  CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Request_free(&request), MPI_SUCCESS);
}

/// The handler is that of the communicator, called by the function that completes the request.
static int handled_count;

static void handle(MPI_Comm* comm, int* error, ...) {
  CHECK_EQUAL(*comm == MPI_COMM_WORLD, 1);
  CHECK_EQUAL(class_of(*error), MPI_ERR_ROOT);
  ++handled_count;
}

static void errors_are_raised_at_the_completion(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  odd = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Ibcast(in, 10, MPI_LONG, me == odd ? 1 : 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  CHECK_EQUAL(handled_count, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_EQUAL(class_of(MPI_Waitall(2, requests, statuses)), MPI_ERR_IN_STATUS);
  CHECK_EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_ROOT);
  CHECK_EQUAL(statuses[1].MPI_ERROR, MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  CHECK_EQUAL(class_of(root_of_bcast()), MPI_ERR_ROOT);
  CHECK_EQUAL(handled_count, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static void run_all(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int round = 0; round < 20; round++) {
    odd = round % ranks;
    for (int i = 0; i < case_count; i++) {
      if (cases[i].error_class == 0) continue;
      const int error_class = class_of(cases[i].run());
      if (error_class != cases[i].error_class) fprintf(stderr, "%s:\n", cases[i].name);
      CHECK_EQUAL(error_class, cases[i].error_class);
      if (round % 2 == 0) everything_still_works();
    }
    wrong_arguments();
  }
  wrong_uses_of_requests();
  errors_are_raised_at_the_completion();
  everything_still_works();
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
