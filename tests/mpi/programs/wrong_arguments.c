// Every wrong argument gets the error class of its kind, by the handler of the call's communicator,
// window, file or session, or else by that of MPI_COMM_SELF; none in the tool interface. The calls
// are generated from the table of the functions: make_wrong_calls.py; wrong_calls.txt has the
// exceptions. wrong_arguments [FIRST]: from call number FIRST on, each named before it is made.
#include "../check.h"

enum { by_self, by_comm, by_win, by_file, by_session, handler_count };

/// How often each handler was called in the present call.
static int errors[handler_count];
static int call_count, wrong_count, first_call;

static void count_comm_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  errors[by_comm]++;
}

static void count_self_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  errors[by_self]++;
}

static void count_win_error(MPI_Win* win, int* error, ...) {
  (void)win;
  (void)error;
  errors[by_win]++;
}

static void count_file_error(MPI_File* file, int* error, ...) {
  (void)file;
  (void)error;
  errors[by_file]++;
}

static void count_session_error(MPI_Session* session, int* error, ...) {
  (void)session;
  (void)error;
  errors[by_session]++;
}

static void any_function(void) {}

enum { place_count = 32, words = 256 };

static long long places[place_count][words];
static int next_place;

/// Memory for an argument of this name, with contents that a call may read.
static void* any_place(const char* name) {
  long long* place = places[next_place++ % place_count];
  memset(place, 0, sizeof places[0]);
  if (strcmp(name, "buflen") == 0) *(int*)place = 8;
  if (strcmp(name, "dims") == 0) *(int*)place = 1;
  if (strstr(name, "request") != NULL) *(MPI_Request*)place = MPI_REQUEST_NULL;
  for (int i = 0; strstr(name, "type") != NULL && i < 8; i++)
    ((MPI_Datatype*)place)[i] = MPI_INT;
  return place;
}

/// any_place() for a buffer; two buffers of a call do not overlap.
static void* buffer(const char* name) {
  return any_place(name);
}

#define VARIABLE(kind, type)                     \
  static type* variable_of_##kind(type handle) { \
    type* place = any_place("variable");         \
    *place = handle;                             \
    return place;                                \
  }
VARIABLE(comm, MPI_Comm)
VARIABLE(datatype, MPI_Datatype)
VARIABLE(op, MPI_Op)
VARIABLE(group, MPI_Group)
VARIABLE(info, MPI_Info)
VARIABLE(win, MPI_Win)
VARIABLE(file, MPI_File)
VARIABLE(errhandler, MPI_Errhandler)
VARIABLE(request, MPI_Request)
VARIABLE(message, MPI_Message)

/// `by` is the handler that has to be called, once.
static void check_call(
    const char* function, const char* argument, const char* what, int expected, int by, int error) {
  int error_class, i, sum = 0;
  MPI_Error_class(error, &error_class);
  for (i = 0; i < handler_count; i++)
    sum += errors[i];
  if (error_class != expected || errors[by] != 1 || sum != 1) {
    fprintf(stderr,
            "%d MPI_%s %s %s: class %d, expected %d by handler %d; errors by those of "
            "MPI_COMM_SELF, communicator, window, files, session: %d %d %d %d %d\n",
            call_count - 1, function, argument, what, error_class, expected, by, errors[0],
            errors[1], errors[2], errors[3], errors[4]);
    wrong_count++;
  }
  memset(errors, 0, sizeof errors);
}

/// Whether the next call is to be made.
static int is_next(const char* function, const char* argument, const char* what) {
  const int number = call_count++;
  if (number < first_call) return 0;
  if (first_call > 0) fprintf(stderr, "%d MPI_%s %s %s\n", number, function, argument, what);
  return 1;
}

#define WRONG(function, argument, what, class, by, call) \
  if (is_next(function, argument, what)) check_call(function, argument, what, class, by, call);

/// A function of the tool interface calls no handler.
static void check_tool_call(
    const char* function, const char* argument, const char* what, int expected, int error) {
  int i, sum = 0;
  for (i = 0; i < handler_count; i++)
    sum += errors[i];
  if (error != expected || sum != 0) {
    fprintf(stderr, "%d MPI_%s %s %s: class %d, expected %d; %d handlers called\n", call_count - 1,
            function, argument, what, error, expected, sum);
    wrong_count++;
  }
  memset(errors, 0, sizeof errors);
}

#define TOOL(function, argument, what, class, call) \
  if (is_next(function, argument, what)) check_tool_call(function, argument, what, class, call);

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
  MPI_Errhandler session_handler, self_handler, win_handler, file_handler;
  MPI_Win win;
  MPI_File file;
  MPI_Datatype struct_type, struct_type_c;
  int comm_keyval, type_keyval, win_keyval;
  int lengths[1] = {1}, dims[1], periods[1] = {0}, sum = 0;
  const int one = 1;
  MPI_Aint no_places[1] = {0};
  const MPI_Count long_lengths[1] = {1}, long_places[1] = {0};
  const MPI_Datatype types[1] = {MPI_INT};
  MPI_T_cvar_handle cvar;
  MPI_T_pvar_session pvar_session;
  MPI_T_pvar_handle pvar;
  MPI_T_event_registration registration;
  MPI_T_enum enumeration;
  int elements;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &elements);
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &elements), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_session_create(&pvar_session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(pvar_session, 0, NULL, &pvar, &elements), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, &enumeration, NULL, NULL,
                                   NULL, NULL),
              MPI_SUCCESS);
  first_call = argc > 1 ? atoi(argv[1]) : 0;
  // Every communicator has one rank, so that every argument is significant.
  dims[0] = 1;
  const int own = 0, index[8] = {0};
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Cart_create(comm, 1, dims, periods, 0, &grid);
  MPI_Graph_create(comm, dims[0], index, index, 0, &graph);
  MPI_Dist_graph_create_adjacent(comm, 1, &own, &one, 1, &own, &one, MPI_INFO_NULL, 0, &dist_graph);
  MPI_Comm_group(comm, &group);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Type_create_struct(1, lengths, no_places, types, &struct_type);
  MPI_Type_create_struct_c(1, long_lengths, long_places, types, &struct_type_c);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyval, NULL);
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
  MPI_Win_fence(0, win);
  MPI_File_create_errhandler(count_file_error, &file_handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
  CHECK_EQUAL(MPI_File_open(comm, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
#include "wrong_calls.inc"
  CHECK(call_count > 1000);
  CHECK_EQUAL(wrong_count, 0);
  // The handles are those that they were.
  CHECK_EQUAL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_session_free(&pvar_session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  // No operation was started.
  CHECK_EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  CHECK_EQUAL(sum, dims[0]);
  MPI_Win_fence(0, win);
  MPI_Session_finalize(&session);
  MPI_Errhandler_free(&session_handler);
  MPI_Errhandler_free(&self_handler);
  MPI_Errhandler_free(&win_handler);
  MPI_Errhandler_free(&file_handler);
  MPI_Comm_free_keyval(&comm_keyval);
  MPI_Type_free_keyval(&type_keyval);
  MPI_Win_free_keyval(&win_keyval);
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
