/* Functions that take a callback, but for attributes (attributes.c). MPI 5.0, 6.9.5, 9.3, 13.2.
 *
 * Reduction functions and error handlers have places (places.h). Request callbacks have an extra
 * state, in which the procedures are kept. */
#include "fortran/places.h"
#include "fortran/shim.h"

enum { places = 64 };

/* ---- Reduction functions ---- */

#define SORREL_OP(name, create, Count, symbol)                                                    \
  typedef void name##_procedure(void* in, void* inout, Count* n, int* datatype);                  \
  static Function name##_table[places];                                                           \
  static void call_##name(int place, void* in, void* inout, Count* n, MPI_Datatype* datatype) {   \
    int number = sorrel_to_Type(*datatype);                                                       \
    ((name##_procedure*)name##_table[place])(in, inout, n, &number);                              \
  }                                                                                               \
  SORREL_REPEAT_64(SORREL_OP_FUNCTION, 0, name, Count)                                            \
  void p##symbol(Function user_fn, const int* commute, int* op, int* ierror) {                    \
    static __typeof(&name##_000) const functions[] = {SORREL_REPEAT_64(SORREL_NAMED, 0, name)};   \
    const int place = place_in(name##_table, places, user_fn, 0);                                 \
    MPI_Op made = MPI_OP_NULL;                                                                    \
    const int error = place < 0 ? sorrel_fail(MPI_ERR_OTHER, #create,                             \
                                              "a rank can have 64 different reduction functions") \
                                : create(functions[place], *commute, &made);                      \
    if (error == MPI_SUCCESS) *op = sorrel_to_Op(made);                                           \
    sorrel_return(ierror, error);                                                                 \
  }                                                                                               \
  SORREL_WEAK_ALIAS(symbol, p##symbol);

SORREL_OP(op, MPI_Op_create, int, mpi_op_create_)
SORREL_WEAK_ALIAS(mpi_op_create_f08_, pmpi_op_create_);
SORREL_ALIAS(pmpi_op_create_f08_, pmpi_op_create_);
#ifndef SORREL_WITHOUT_LARGE_COUNTS
SORREL_OP(op_c, MPI_Op_create_c, MPI_Count, mpi_op_create_c_f08_)
#endif

/* ---- Error handlers ---- */

#define SORREL_ERRHANDLERS(kind, Kind)                                                          \
  static Function kind##_table[places];                                                         \
  static void call_##kind##_handler(int place, MPI_##Kind* handle, int* code) {                 \
    int number = sorrel_to_##Kind(*handle);                                                     \
    ((void (*)(int*, int*))kind##_table[place])(&number, code);                                 \
  }                                                                                             \
  SORREL_REPEAT_64(SORREL_HANDLER_FUNCTION, 0, kind, Kind)                                      \
  void pmpi_##kind##_create_errhandler_(Function function, int* errhandler, int* ierror) {      \
    static MPI_##Kind##_errhandler_function* const functions[] = {                              \
        SORREL_REPEAT_64(SORREL_NAMED, 0, kind##_handler)};                                     \
    const int place = place_in(kind##_table, places, function, 0);                              \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                  \
    const int error = place < 0 ? sorrel_fail(MPI_ERR_OTHER, "MPI_" #Kind "_create_errhandler", \
                                              "a rank can have 64 different error handlers")    \
                                : MPI_##Kind##_create_errhandler(functions[place], &made);      \
    if (error == MPI_SUCCESS) *errhandler = sorrel_to_Errhandler(made);                         \
    sorrel_return(ierror, error);                                                               \
  }                                                                                             \
  SORREL_WEAK_ALIAS(mpi_##kind##_create_errhandler_, pmpi_##kind##_create_errhandler_);         \
  SORREL_WEAK_ALIAS(mpi_##kind##_create_errhandler_f08_, pmpi_##kind##_create_errhandler_);     \
  SORREL_ALIAS(pmpi_##kind##_create_errhandler_f08_, pmpi_##kind##_create_errhandler_);

SORREL_ERRHANDLERS(comm, Comm)
SORREL_ERRHANDLERS(win, Win)
SORREL_ERRHANDLERS(file, File)
SORREL_ERRHANDLERS(session, Session)

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
