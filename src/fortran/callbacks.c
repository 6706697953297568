/* Functions that take a callback, and attributes, whose values Fortran has as integers.
 * MPI 5.0, 6.9.5, 7.7, 9.3, 13.2, 19.3.7.
 *
 * A reduction function and an error handler get no argument by which a C function could find the
 * Fortran procedure. So there is a table of procedures, and for each of its places a C function
 * that calls the procedure there. A procedure keeps its place. Attribute and request callbacks have
 * an extra state, in which the procedures are kept. */
#include "fortran/shim.h"
#include "fortran_functions.h"

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

#ifdef SORREL_HAS_Win_create_errhandler
SORREL_ERRHANDLERS(win, Win)
#define SORREL_HANDLE_TYPE MPI_Win
#define SORREL_NAMED(n) win_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_Win_errhandler_function* const win_handlers[] = {SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(win, Win)
#endif

#ifdef SORREL_HAS_File_create_errhandler
SORREL_ERRHANDLERS(file, File)
#define SORREL_HANDLE_TYPE MPI_File
#define SORREL_NAMED(n) file_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_File_errhandler_function* const file_handlers[] = {
    SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(file, File)
#endif

#ifdef SORREL_HAS_Session_create_errhandler
SORREL_ERRHANDLERS(session, Session)
#define SORREL_HANDLE_TYPE MPI_Session
#define SORREL_NAMED(n) session_handler_##n
SORREL_REPEAT_64(SORREL_HANDLER_PLACE)
static MPI_Session_errhandler_function* const session_handlers[] = {
    SORREL_REPEAT_64(SORREL_HANDLER_NAME)};
#undef SORREL_HANDLE_TYPE
#undef SORREL_NAMED
SORREL_ERRHANDLER_CREATE(session, Session)
#endif

/* ---- Attributes ---- */

/* The procedures of a key; kept to the end of the program, because freed keys may have values.
 * `Value` is INTEGER(KIND=MPI_ADDRESS_KIND), INTEGER for the deprecated functions. */
#define SORREL_KEYVAL(name, Kind, Handle, Value)                                                \
  struct name##_key {                                                                           \
    void (*copy)(int*, int*, Value*, Value*, Value*, int*, int*);                               \
    void (*remove)(int*, int*, Value*, Value*, int*);                                           \
    Value extra_state;                                                                          \
  };                                                                                            \
  static int name##_copy(Handle object, int keyval, void* extra_state, void* value, void* copy, \
                         int* flag) {                                                           \
    struct name##_key* key = extra_state;                                                       \
    int number = sorrel_to_##Kind(object);                                                      \
    int error = MPI_SUCCESS;                                                                    \
    Value in = (Value)(MPI_Aint)value;                                                          \
    Value out = 0;                                                                              \
    *flag = 0;                                                                                  \
    key->copy(&number, &keyval, &key->extra_state, &in, &out, flag, &error);                    \
    *flag = *flag != 0;                                                                         \
    if (*flag) *(void**)copy = (void*)(MPI_Aint)out;                                            \
    return error;                                                                               \
  }                                                                                             \
  static int name##_remove(Handle object, int keyval, void* value, void* extra_state) {         \
    struct name##_key* key = extra_state;                                                       \
    int number = sorrel_to_##Kind(object);                                                      \
    int error = MPI_SUCCESS;                                                                    \
    Value in = (Value)(MPI_Aint)value;                                                          \
    key->remove(&number, &keyval, &in, &key->extra_state, &error);                              \
    return error;                                                                               \
  }                                                                                             \
  void pmpi_##name##_(void (*copy)(int*, int*, Value*, Value*, Value*, int*, int*),             \
                      void (*remove)(int*, int*, Value*, Value*, int*), int* keyval,            \
                      const Value* extra_state, int* ierror) {                                  \
    struct name##_key* key = sorrel_memory(1, sizeof *key);                                     \
    key->copy = copy;                                                                           \
    key->remove = remove;                                                                       \
    key->extra_state = *extra_state;                                                            \
    const int error = SORREL_CREATE(name##_copy, name##_remove, keyval, key);                   \
    if (error != MPI_SUCCESS) free(key);                                                        \
    sorrel_return(ierror, error);                                                               \
  }                                                                                             \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);

#define SORREL_F08_NAMES(name)                          \
  SORREL_WEAK_ALIAS(mpi_##name##_f08_, pmpi_##name##_); \
  SORREL_ALIAS(pmpi_##name##_f08_, pmpi_##name##_);

/* Attributes that C has as the address of an integer. */
static MPI_Aint value_of(int keyval, void* value) {
  if (value == NULL || keyval == MPI_WIN_BASE) return (MPI_Aint)value;
  if (keyval == MPI_WIN_SIZE) return *(MPI_Aint*)value;
  if ((keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) ||
      (keyval >= MPI_WIN_DISP_UNIT && keyval <= MPI_WIN_MODEL))
    return *(int*)value;
  return (MPI_Aint)value;
}

#define SORREL_GET_ATTR(name, Kind, get, Value)                                      \
  void pmpi_##name##_(const int* object, const int* keyval, Value* value, int* flag, \
                      int* ierror) {                                                 \
    void* found = NULL;                                                              \
    *flag = 0;                                                                       \
    const int error = get(sorrel_from_##Kind(*object), *keyval, &found, flag);       \
    *flag = *flag != 0;                                                              \
    if (error == MPI_SUCCESS && *flag) *value = (Value)value_of(*keyval, found);     \
    sorrel_return(ierror, error);                                                    \
  }                                                                                  \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);

/* The procedures that MPI provides. They are called as those of the program. */
#define SORREL_COPY_FN(name, Value, copies)                                                 \
  void name(int* object, int* keyval, Value* extra_state, Value* in, Value* out, int* flag, \
            int* ierror) {                                                                  \
    (void)object, (void)keyval, (void)extra_state;                                          \
    if (copies) *out = *in;                                                                 \
    *flag = copies;                                                                         \
    *ierror = MPI_SUCCESS;                                                                  \
  }
#define SORREL_DELETE_FN(name, Value)                                                  \
  void name(int* object, int* keyval, Value* value, Value* extra_state, int* ierror) { \
    (void)object, (void)keyval, (void)value, (void)extra_state;                        \
    *ierror = MPI_SUCCESS;                                                             \
  }
#define SORREL_PROVIDED_FUNCTIONS(prefix, Value)        \
  SORREL_COPY_FN(mpi_##prefix##null_copy_fn_, Value, 0) \
  SORREL_COPY_FN(mpi_##prefix##dup_fn_, Value, 1)       \
  SORREL_DELETE_FN(mpi_##prefix##null_delete_fn_, Value)
SORREL_PROVIDED_FUNCTIONS(, int)
SORREL_PROVIDED_FUNCTIONS(comm_, MPI_Aint)
SORREL_PROVIDED_FUNCTIONS(type_, MPI_Aint)
SORREL_PROVIDED_FUNCTIONS(win_, MPI_Aint)

#define SORREL_CREATE MPI_Comm_create_keyval
SORREL_KEYVAL(comm_create_keyval, Comm, MPI_Comm, MPI_Aint)
#undef SORREL_CREATE
SORREL_F08_NAMES(comm_create_keyval)
SORREL_GET_ATTR(comm_get_attr, Comm, MPI_Comm_get_attr, MPI_Aint)
SORREL_F08_NAMES(comm_get_attr)
#define SORREL_CREATE MPI_Keyval_create
SORREL_KEYVAL(keyval_create, Comm, MPI_Comm, int)
#undef SORREL_CREATE
SORREL_GET_ATTR(attr_get, Comm, MPI_Attr_get, int)
#ifdef SORREL_HAS_Type_create_keyval
#define SORREL_CREATE MPI_Type_create_keyval
SORREL_KEYVAL(type_create_keyval, Type, MPI_Datatype, MPI_Aint)
#undef SORREL_CREATE
SORREL_F08_NAMES(type_create_keyval)
SORREL_GET_ATTR(type_get_attr, Type, MPI_Type_get_attr, MPI_Aint)
SORREL_F08_NAMES(type_get_attr)
#endif
#ifdef SORREL_HAS_Win_create_keyval
#define SORREL_CREATE MPI_Win_create_keyval
SORREL_KEYVAL(win_create_keyval, Win, MPI_Win, MPI_Aint)
#undef SORREL_CREATE
SORREL_F08_NAMES(win_create_keyval)
SORREL_GET_ATTR(win_get_attr, Win, MPI_Win_get_attr, MPI_Aint)
SORREL_F08_NAMES(win_get_attr)
#endif

/* ---- Generalized requests ---- */

#ifdef SORREL_HAS_Grequest_start
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
SORREL_F08_NAMES(grequest_start)
#endif
