/* Functions that take a callback, but for attributes (attributes.c). MPI 5.0, 6.9.5, 9.3, 13.2.
 *
 * A reduction function and an error handler get no argument by which a C function could find the
 * Fortran procedure. So there is a table of procedures, and for each of its places a C function
 * that calls the procedure there. A procedure keeps its place. Request callbacks have an extra
 * state, in which the procedures are kept. */
#include "fortran/shim.h"

#define SORREL_REPEAT_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define SORREL_REPEAT_64(X) \
  SORREL_REPEAT_8(X, 00)    \
  SORREL_REPEAT_8(X, 01)    \
  SORREL_REPEAT_8(X, 02)    \
  SORREL_REPEAT_8(X, 03)    \
  SORREL_REPEAT_8(X, 04) SORREL_REPEAT_8(X, 05) SORREL_REPEAT_8(X, 06) SORREL_REPEAT_8(X, 07)

enum { places = 64 };

typedef void (*Procedure)(void);

/* The place of a procedure; -1 if the table is full. */
static int place_of(Procedure* table, Procedure procedure) {
  for (int i = 0; i < places; ++i) {
    Procedure found = NULL;
    /* Several threads of a rank may call. */
    if (__atomic_compare_exchange_n(&table[i], &found, procedure, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        found == procedure)
      return i;
  }
  return -1;
}

/* ---- Reduction functions ---- */

#define SORREL_OP(create, Count)                                                                  \
  typedef void(create##_procedure)(void* in, void* inout, Count* n, int* datatype);               \
  static Procedure create##_table[places];                                                        \
  static void create##_call(int place, void* in, void* inout, Count* n, MPI_Datatype* datatype) { \
    int number = sorrel_to_Type(*datatype);                                                       \
    ((create##_procedure*)create##_table[place])(in, inout, n, &number);                          \
  }

#define SORREL_OP_CREATE(name, create, functions)                                                 \
  void p##name(Procedure user_fn, const int* commute, int* op, int* ierror) {                     \
    const int place = place_of(create##_table, user_fn);                                          \
    MPI_Op made = MPI_OP_NULL;                                                                    \
    const int error = place < 0 ? sorrel_fail(MPI_ERR_OTHER, #create,                             \
                                              "a rank can have 64 different reduction functions") \
                                : create(functions[place], *commute, &made);                      \
    if (error == MPI_SUCCESS) *op = sorrel_to_Op(made);                                           \
    sorrel_return(ierror, error);                                                                 \
  }

SORREL_OP(MPI_Op_create, int)
#define SORREL_PLACE(n)                                                           \
  static void op_##n(void* in, void* inout, int* count, MPI_Datatype* datatype) { \
    MPI_Op_create_call(0##n, in, inout, count, datatype);                         \
  }
SORREL_REPEAT_64(SORREL_PLACE)
#undef SORREL_PLACE
#define SORREL_PLACE(n) op_##n,
static MPI_User_function* const op_functions[] = {SORREL_REPEAT_64(SORREL_PLACE)};
#undef SORREL_PLACE
SORREL_OP_CREATE(mpi_op_create_, MPI_Op_create, op_functions)
SORREL_WEAK_ALIAS(mpi_op_create_, pmpi_op_create_);
SORREL_WEAK_ALIAS(mpi_op_create_f08_, pmpi_op_create_);
SORREL_ALIAS(pmpi_op_create_f08_, pmpi_op_create_);

SORREL_OP(MPI_Op_create_c, MPI_Count)
#define SORREL_PLACE(n)                                                                   \
  static void op_c_##n(void* in, void* inout, MPI_Count* count, MPI_Datatype* datatype) { \
    MPI_Op_create_c_call(0##n, in, inout, count, datatype);                               \
  }
SORREL_REPEAT_64(SORREL_PLACE)
#undef SORREL_PLACE
#define SORREL_PLACE(n) op_c_##n,
static MPI_User_function_c* const op_c_functions[] = {SORREL_REPEAT_64(SORREL_PLACE)};
#undef SORREL_PLACE
SORREL_OP_CREATE(mpi_op_create_c_f08_, MPI_Op_create_c, op_c_functions)
SORREL_WEAK_ALIAS(mpi_op_create_c_f08_, pmpi_op_create_c_f08_);

/* ---- Error handlers ---- */

#define SORREL_HANDLER_PLACE(n)                                              \
  static void SORREL_NAMED(n)(SORREL_HANDLE_TYPE * handle, int* code, ...) { \
    SORREL_NAMED(call)(0##n, handle, code);                                  \
  }
#define SORREL_HANDLER_NAME(n) SORREL_NAMED(n),
#define SORREL_ERRHANDLERS(lower, Kind)                                        \
  static Procedure lower##_handler_table[places];                              \
  static void lower##_handler_call(int place, MPI_##Kind* handle, int* code) { \
    int number = sorrel_to_##Kind(*handle);                                    \
    ((void (*)(int*, int*))lower##_handler_table[place])(&number, code);       \
  }
#define SORREL_ERRHANDLER_CREATE(lower, Kind)                                                     \
  void pmpi_##lower##_create_errhandler_(Procedure function, int* errhandler, int* ierror) {      \
    const int place = place_of(lower##_handler_table, function);                                  \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                    \
    const int error = place < 0 ? sorrel_fail(MPI_ERR_OTHER, "MPI_" #Kind "_create_errhandler",   \
                                              "a rank can have 64 different error handlers")      \
                                : MPI_##Kind##_create_errhandler(lower##_handlers[place], &made); \
    if (error == MPI_SUCCESS) *errhandler = sorrel_to_Errhandler(made);                           \
    sorrel_return(ierror, error);                                                                 \
  }                                                                                               \
  SORREL_WEAK_ALIAS(mpi_##lower##_create_errhandler_, pmpi_##lower##_create_errhandler_);         \
  SORREL_WEAK_ALIAS(mpi_##lower##_create_errhandler_f08_, pmpi_##lower##_create_errhandler_);     \
  SORREL_ALIAS(pmpi_##lower##_create_errhandler_f08_, pmpi_##lower##_create_errhandler_);

SORREL_ERRHANDLERS(comm, Comm)
#define SORREL_HANDLE_TYPE MPI_Comm
#define SORREL_NAMED(n) comm_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_Comm_errhandler_function* const comm_handlers[] = {
    SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(comm, Comm)

SORREL_ERRHANDLERS(win, Win)
#define SORREL_HANDLE_TYPE MPI_Win
#define SORREL_NAMED(n) win_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_Win_errhandler_function* const win_handlers[] = {SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(win, Win)

SORREL_ERRHANDLERS(file, File)
#define SORREL_HANDLE_TYPE MPI_File
#define SORREL_NAMED(n) file_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_File_errhandler_function* const file_handlers[] = {
    SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(file, File)

SORREL_ERRHANDLERS(session, Session)
#define SORREL_HANDLE_TYPE MPI_Session
#define SORREL_NAMED(n) session_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_Session_errhandler_function* const session_handlers[] = {
    SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(session, Session)

/* ---- Generalized requests ---- */

struct grequest {
  void (*query)(MPI_Aint* extra_state, MPI_Status* status, int* ierror);
  void (*release)(MPI_Aint* extra_state, int* ierror);
  void (*cancel)(MPI_Aint* extra_state, int* complete, int* ierror);
  MPI_Aint extra_state;
};

static int grequest_query(void* extra_state, MPI_Status* status) {
  struct grequest* request = extra_state;
  int error = MPI_SUCCESS;
  request->query(&request->extra_state, status, &error);
  return error;
}

static int grequest_free(void* extra_state) {
  struct grequest* request = extra_state;
  int error = MPI_SUCCESS;
  request->release(&request->extra_state, &error);
  free(request);
  return error;
}

static int grequest_cancel(void* extra_state, int complete) {
  struct grequest* request = extra_state;
  int error = MPI_SUCCESS;
  complete = complete != 0;
  request->cancel(&request->extra_state, &complete, &error);
  return error;
}

void pmpi_grequest_start_(void (*query)(MPI_Aint*, MPI_Status*, int*),
                          void (*release)(MPI_Aint*, int*),
                          void (*cancel)(MPI_Aint*, int*, int*),
                          const MPI_Aint* extra_state,
                          int* request,
                          int* ierror) {
  struct grequest* made = sorrel_memory(1, sizeof *made);
  made->query = query;
  made->release = release;
  made->cancel = cancel;
  made->extra_state = *extra_state;
  MPI_Request handle = MPI_REQUEST_NULL;
  const int error =
      MPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, made, &handle);
  if (error == MPI_SUCCESS) {
    *request = sorrel_to_Request(handle);
  } else {
    free(made);
  }
  sorrel_return(ierror, error);
}

SORREL_WEAK_ALIAS(mpi_grequest_start_, pmpi_grequest_start_);
SORREL_WEAK_ALIAS(mpi_grequest_start_f08_, pmpi_grequest_start_);
SORREL_ALIAS(pmpi_grequest_start_f08_, pmpi_grequest_start_);
