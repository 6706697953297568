// A null pointer for an argument that a call reads or writes gives MPI_ERR_ARG, by the handler of
// the call's communicator, window or file, or else by that of MPI_COMM_SELF. The calls are
// generated from mpi.h: make_null_calls.py. A call that uses the pointer without a check crashes
// here.
#include "../check.h"

/// Errors by the handlers of MPI_COMM_SELF, of the communicator, of the window, and of files.
static int errors[4];

static void count_comm_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  errors[1]++;
}

static void count_self_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  errors[0]++;
}

static void count_win_error(MPI_Win* win, int* error, ...) {
  (void)win;
  (void)error;
  errors[2]++;
}

static void count_file_error(MPI_File* file, int* error, ...) {
  (void)file;
  (void)error;
  errors[3]++;
}

/// Sessions have handlers of their own, which stand here for that of MPI_COMM_SELF.
static void count_session_error(MPI_Session* session, int* error, ...) {
  (void)session;
  (void)error;
  errors[0]++;
}

static void any_function(void) {}

/// Memory for an argument of this name, with contents that a call may read.
static void* any_place(const char* name) {
  enum { place_count = 16, words = 256 };

  static long long places[place_count][words];
  static int next = 0;
  long long* place = places[next++ % place_count];
  memset(place, 0, sizeof places[0]);
  if (strcmp(name, "buflen") == 0) *(int*)place = 8;
  if (strcmp(name, "dims") == 0) *(int*)place = 1;
  if (strstr(name, "request") != NULL) *(MPI_Request*)place = MPI_REQUEST_NULL;
  return place;
}

/// `by` is the handler that has to be called.
static void refused(const char* function, const char* argument, int by, int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  if (error_class == MPI_ERR_ARG && errors[by] == 1 &&
      errors[0] + errors[1] + errors[2] + errors[3] == 1) {
    errors[by] = 0;
    return;
  }
  fprintf(stderr,
          "MPI_%s without %s: class %d, expected %d; errors by the handlers of MPI_COMM_SELF, "
          "of the communicator, of the window, and of files: %d %d %d %d\n",
          function, argument, error_class, MPI_ERR_ARG, errors[0], errors[1], errors[2], errors[3]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define REFUSED(function, argument, by, call) \
  refused(function, argument, by, call);      \
  call_count++;

static void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) {
  MPI_Comm comm, grid, graph, dist_graph;
  MPI_Group group;
  MPI_Info info;
  MPI_Session session;
  /// Passed to calls that raise their errors by an argument, as MPI_COMM_SELF counts them.
  MPI_Errhandler session_handler, self_handler;
  MPI_Win win;
  MPI_Errhandler win_handler, file_handler;
  MPI_File file;
  MPI_Datatype struct_type, struct_type_c;
  MPI_Message no_message = MPI_MESSAGE_NO_PROC;
  int call_count = 0, lengths[1] = {1}, dims[1], periods[1] = {0}, sum = 0;
  const int one = 1;
  MPI_Aint places[1] = {0};
  const MPI_Count long_lengths[1] = {1}, long_places[1] = {0};
  const MPI_Datatype types[1] = {MPI_INT};
  MPI_Init(&argc, &argv);
  dims[0] = size_of(MPI_COMM_WORLD);
  const int own = rank_in(MPI_COMM_WORLD), index[8] = {0};
  CHECK(dims[0] <= 8);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  MPI_Graph_create(MPI_COMM_WORLD, dims[0], index, index, 0, &graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &own, &one, 1, &own, &one, MPI_INFO_NULL, 0,
                                 &dist_graph);
  MPI_Comm_group(comm, &group);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Type_create_struct(1, lengths, places, types, &struct_type);
  MPI_Type_create_struct_c(1, long_lengths, long_places, types, &struct_type_c);
  MPI_Session_create_errhandler(count_session_error, &session_handler);
  MPI_Session_init(MPI_INFO_NULL, session_handler, &session);
  MPI_Comm_create_errhandler(count_self_error, &self_handler);
  set_handler(comm, count_comm_error);
  set_handler(grid, count_comm_error);
  set_handler(graph, count_comm_error);
  set_handler(dist_graph, count_comm_error);
  set_handler(MPI_COMM_SELF, count_self_error);
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_create_errhandler(count_win_error, &win_handler);
  MPI_Win_set_errhandler(win, win_handler);
  MPI_Errhandler_free(&win_handler);
  MPI_File_create_errhandler(count_file_error, &file_handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
  MPI_Errhandler_free(&file_handler);
  CHECK_EQUAL(MPI_File_open(comm, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
#include "null_calls.inc"
  CHECK(call_count > 200);
  // No operation was started.
  CHECK_EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  CHECK_EQUAL(sum, dims[0]);
  MPI_Session_finalize(&session);
  MPI_Errhandler_free(&session_handler);
  MPI_Errhandler_free(&self_handler);
  MPI_Win_free(&win);
  MPI_File_close(&file);
  MPI_Type_free(&struct_type);
  MPI_Type_free(&struct_type_c);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  MPI_Comm_free(&dist_graph);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
