/* What calls return to a program of another interface: the codes of its errors, by functions of
 * each form, and its requests after MPI_Waitall. */
#include "../mpi/check.h"

enum { many = 5000, few = 64 };

static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static int handled_code;
static int is_error_forgiven;

static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  handled_code = *code;
  if (is_error_forgiven) *code = MPI_SUCCESS;
}

static void calls_return_the_codes_of_the_interface(int size) {
  int value = 0;
  int sum = 0;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  /* No result but the code; a status; a request; a datatype. */
  CHECK_EQUAL(class_of(MPI_Send(&value, 1, MPI_INT, size, 1, MPI_COMM_WORLD)), MPI_ERR_RANK);
  CHECK_EQUAL(class_of(MPI_Send(&value, -1, MPI_INT, 0, 1, MPI_COMM_WORLD)), MPI_ERR_COUNT);
  CHECK_EQUAL(class_of(MPI_Recv(&value, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
              MPI_ERR_RANK);
  CHECK_EQUAL(class_of(MPI_Recv(&value, 1, MPI_INT, size, 1, MPI_COMM_WORLD, &status)),
              MPI_ERR_RANK);
  CHECK_EQUAL(class_of(MPI_Isend(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request)),
              MPI_ERR_TAG);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(class_of(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD)), MPI_ERR_ROOT);
  CHECK_EQUAL(class_of(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD)),
              MPI_ERR_OP);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  CHECK_EQUAL(class_of(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type)), MPI_ERR_TYPE);
  int keyval = MPI_KEYVAL_INVALID;
  CHECK_EQUAL(class_of(MPI_Comm_free_keyval(&keyval)), MPI_ERR_KEYVAL);

  /* Errors of the program's own. */
  int own_class = -1;
  int own_code = -1;
  MPI_Add_error_class(&own_class);
  MPI_Add_error_code(own_class, &own_code);
  CHECK(own_class > MPI_ERR_LASTCODE && own_code > MPI_ERR_LASTCODE);
  CHECK_EQUAL(class_of(own_code), own_class);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_call_errhandler(MPI_COMM_SELF, own_code);
  CHECK_EQUAL(handled_code, own_code);
  const int code = MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_SELF);
  CHECK_EQUAL(handled_code, code);
  CHECK_EQUAL(class_of(code), MPI_ERR_RANK);
  is_error_forgiven = 1;
  CHECK_EQUAL(MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_SELF), MPI_SUCCESS);
  CHECK_EQUAL(handled_code, code);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Messages of each rank to itself: request 2 * i receives, 2 * i + 1 sends. */
static void begin(MPI_Request requests[], int values[], int count) {
  for (int i = 0; i < count / 2; ++i) {
    MPI_Irecv(&values[2 * i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
    values[2 * i + 1] = i + 1;
    MPI_Isend(&values[2 * i + 1], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
  }
}

static void check_end(const MPI_Request requests[], const int values[], int count) {
  for (int i = 0; i < count; ++i)
    CHECK(requests[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < count / 2; ++i)
    CHECK_EQUAL(values[2 * i], i + 1);
}

static MPI_Request requests[many];
static int values[many];
static MPI_Status statuses[few];

static void lists_of_requests_end(void) {
  static const int counts[] = {2, few, few + 2, many, few};
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
      begin(requests, values, counts[i]);
      MPI_Waitall(counts[i], requests, MPI_STATUSES_IGNORE);
      check_end(requests, values, counts[i]);
    }
  }
  /* The second half from places beyond the first part of a list of requests. */
  begin(requests, values, many);
  MPI_Waitall(few, &requests[many - few], MPI_STATUSES_IGNORE);
  MPI_Waitall(few, &requests[many - few], MPI_STATUSES_IGNORE); /* all null */
  begin(&requests[many - few], &values[many - few], few);
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i)
    CHECK(requests[i] == MPI_REQUEST_NULL);
  begin(requests, values, few);
  MPI_Waitall(few, requests, statuses);
  check_end(requests, values, few);
  for (int i = 0; i < few; i += 2)
    CHECK_EQUAL(statuses[i].MPI_TAG, i / 2);
  MPI_Waitall(0, requests, MPI_STATUSES_IGNORE);
}

static void lists_may_have_null_and_persistent_requests(void) {
  int from = 7;
  int to = 0;
  MPI_Request list[5] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                         MPI_REQUEST_NULL};
  MPI_Recv_init(&to, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &list[1]);
  MPI_Send_init(&from, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &list[3]);
  const MPI_Request receive = list[1];
  const MPI_Request send = list[3];
  for (from = 7; from < 10; ++from) {
    MPI_Start(&list[1]), MPI_Start(&list[3]);
    MPI_Waitall(5, list, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(to, from);
    CHECK(list[0] == MPI_REQUEST_NULL && list[2] == MPI_REQUEST_NULL);
    CHECK(list[1] == receive && list[3] == send && list[4] == MPI_REQUEST_NULL);
  }
  MPI_Request_free(&list[1]), MPI_Request_free(&list[3]);
  CHECK(list[1] == MPI_REQUEST_NULL);
}

static void lists_with_an_error_say_where(void) {
  MPI_Request list[4];
  int values_of_list[4] = {0, 1, 2, 3};
  int two[2];
  for (int has_statuses = 0; has_statuses < 2; ++has_statuses) {
    MPI_Irecv(&values_of_list[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[0]);
    MPI_Irecv(two, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &list[1]);
    MPI_Isend(&values_of_list[2], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[2]);
    MPI_Isend(&values_of_list[2], 2, MPI_INT, 0, 2, MPI_COMM_SELF, &list[3]);
    const int code = MPI_Waitall(4, list, has_statuses ? statuses : MPI_STATUSES_IGNORE);
    CHECK_EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    if (has_statuses) {
      CHECK_EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
      CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
    }
    for (int i = 0; i < 4; ++i)
      CHECK(list[i] == MPI_REQUEST_NULL);
  }
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  /* With threads, lists of requests take another way. */
  if (argc > 1) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  calls_return_the_codes_of_the_interface(size_of(MPI_COMM_WORLD));
  lists_of_requests_end();
  lists_may_have_null_and_persistent_requests();
  lists_with_an_error_say_where();
  MPI_Finalize();
  return 0;
}
