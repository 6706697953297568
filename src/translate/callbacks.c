/* Functions that take a callback. Compiled for each family.
 *
 * Reduction functions and error handlers have places (fortran/places.h). Other callbacks have an
 * extra state: the standard's functions get one that holds the program's. */
#include SORREL_FAMILY

#include "translate/callbacks.h"

#include <stdio.h>

#include "fortran/places.h"

enum { places = 256 };

static int place_of(Function* table, Function function) {
  return place_in(table, places, function, 0);
}

static int no_place(const char* name, const char* what) {
  fprintf(stderr, "sorrel: %s: a rank can have %d different %s\n", name, places, what);
  return from_error(MPI_ERR_OTHER);
}

/* clang-format off */
#define REPEAT(X, ...)                                                            \
  SORREL_REPEAT_64(X, 0, __VA_ARGS__) SORREL_REPEAT_64(X, 1, __VA_ARGS__)         \
  SORREL_REPEAT_64(X, 2, __VA_ARGS__) SORREL_REPEAT_64(X, 3, __VA_ARGS__)
/* clang-format on */

/* ---- Reduction functions ---- */

typedef void UserFunction(void* in, void* inout, int* count, F_MPI_Datatype* datatype);
static Function op_table[places];

/* Operations of C++: the last one of a place, and the function that the bindings have given for it.
 */
static struct {
  MPI_Op op;
  Function function;
} cxx_ops[places];

static void set_cxx_op(F_MPI_Op op, Function function) {
  const MPI_Op own = to_op(op);
  for (int i = 0; i < places && own != (MPI_Op)0; ++i) {
    if (cxx_ops[i].op == own) cxx_ops[i].function = function;
  }
}

#ifdef SORREL_CXX_HOOKS
/* Open MPI's C++ bindings, which are code of the program: MPI::Op::Init creates an operation of
 * this function of their library, and then gives the function of the program for it. */
void ompi_mpi_cxx_op_intercept(void* in,
                               void* inout,
                               int* count,
                               F_MPI_Datatype* datatype,
                               UserFunction* function) __attribute__((weak));
#endif

#ifdef SORREL_CXX_PROXIES
/* MPICH's C++ bindings, a library: MPI::Op::Init creates an operation of the program's function,
 * and then gives the function of the library that calls it. Handlers and keyvals are alike. */
typedef void CxxOp(void* in, void* inout, int count, F_MPI_Datatype datatype, Function function);
#endif

static void call_op(int place, void* in, void* inout, int* count, MPI_Datatype* datatype) {
  F_MPI_Datatype own = from_datatype(*datatype);
#ifdef SORREL_CXX_PROXIES
  if (cxx_ops[place].function != NULL) {
    ((CxxOp*)cxx_ops[place].function)(in, inout, *count, own, op_table[place]);
    return;
  }
#endif
#ifdef SORREL_CXX_HOOKS
  if (op_table[place] == (Function)ompi_mpi_cxx_op_intercept) {
    ompi_mpi_cxx_op_intercept(in, inout, count, &own, (UserFunction*)cxx_ops[place].function);
    return;
  }
#endif
  ((UserFunction*)op_table[place])(in, inout, count, &own);
}

REPEAT(SORREL_OP_FUNCTION, op, int)
static MPI_User_function* const op_functions[] = {REPEAT(SORREL_NAMED, op)};

#ifdef SORREL_CXX_HOOKS
__attribute__((visibility("default"))) void ompi_op_set_cxx_callback(F_MPI_Op op,
                                                                     UserFunction* function) {
  set_cxx_op(op, (Function)function);
}
#endif

#ifdef SORREL_CXX_PROXIES
/* With the name of MPICH 3.3 and later, and the one before. */
#define CXX_FUNCTION(name, parameters)                                                      \
  void cxx_##name parameters __asm__("MPII_" #name) __attribute__((visibility("default"))); \
  __asm__(".globl MPIR_" #name "\n\t.type MPIR_" #name ", %function\n\t.set MPIR_" #name    \
          ", MPII_" #name);                                                                 \
  void cxx_##name parameters

CXX_FUNCTION(Op_set_cxx, (F_MPI_Op op, Function call)) {
  set_cxx_op(op, call);
}
#endif

SORREL_FUNCTION(int, Op_create, (UserFunction * function, int commute, F_MPI_Op* op)) {
  SORREL_NOTE_CALLER();
  if (function == NULL || op == NULL)
    return f_result(S.Op_create((MPI_User_function*)function, commute, (MPI_Op*)op));
#ifdef SORREL_CXX_HOOKS
  const int is_cxx = ompi_mpi_cxx_op_intercept != NULL &&
                     (Function)function == (Function)ompi_mpi_cxx_op_intercept;
  /* Every operation of C++ has a place of its own. */
#else
  const int is_cxx = 0;
#endif
  const int place = place_in(op_table, places, (Function)function, is_cxx);
  if (place < 0) return no_place("MPI_Op_create", "reduction functions");
  MPI_Op made = MPI_OP_NULL;
  const int error = S.Op_create(op_functions[place], commute, &made);
  if (error != MPI_SUCCESS) return f_result(error);
  /* A freed operation may have had the same handle. */
  for (int i = 0; i < places; ++i) {
    if (cxx_ops[i].op == made) cxx_ops[i].op = NULL;
  }
  cxx_ops[place].op = made;
  set_op(op, made);
  return MPI_SUCCESS;
}

#ifdef SORREL_LARGE_COUNTS
typedef void UserFunctionC(void* in, void* inout, MPI_Count* count, F_MPI_Datatype* datatype);
static Function op_c_table[places];

static void call_op_c(int place, void* in, void* inout, MPI_Count* count, MPI_Datatype* datatype) {
  F_MPI_Datatype own = from_datatype(*datatype);
  ((UserFunctionC*)op_c_table[place])(in, inout, count, &own);
}

REPEAT(SORREL_OP_FUNCTION, op_c, MPI_Count)
static MPI_User_function_c* const op_c_functions[] = {REPEAT(SORREL_NAMED, op_c)};

SORREL_FUNCTION(int, Op_create_c, (UserFunctionC * function, int commute, F_MPI_Op* op)) {
  SORREL_NOTE_CALLER();
  if (function == NULL || op == NULL)
    return f_result(S.Op_create_c((MPI_User_function_c*)function, commute, (MPI_Op*)op));
  const int place = place_of(op_c_table, (Function)function);
  if (place < 0) return no_place("MPI_Op_create_c", "reduction functions");
  MPI_Op made = MPI_OP_NULL;
  const int error = S.Op_create_c(op_c_functions[place], commute, &made);
  if (error == MPI_SUCCESS) set_op(op, made);
  return f_result(error);
}
#endif

/* ---- Error handlers. The program's function gets two arguments; what follows them is each
 * implementation's own. ---- */

#ifdef SORREL_CXX_PROXIES
typedef void CxxHandler(int kind, void* handle, int* code, Function function);

enum { cxx_comm, cxx_file, cxx_win, cxx_session };

static struct {
  MPI_Errhandler handler;
  Function call;
} cxx_handlers[(cxx_session + 1) * places];

static void note_handler(int kind, int place, MPI_Errhandler made) {
  for (int i = 0; i < (cxx_session + 1) * places; ++i) {
    if (cxx_handlers[i].handler == made) cxx_handlers[i].handler = NULL;
  }
  cxx_handlers[kind * places + place].handler = made;
}

CXX_FUNCTION(Errhandler_set_cxx, (F_MPI_Errhandler errhandler, Function call)) {
  const MPI_Errhandler own = to_errhandler(errhandler);
  for (int i = 0; i < (cxx_session + 1) * places && own != (MPI_Errhandler)0; ++i) {
    if (cxx_handlers[i].handler == own) cxx_handlers[i].call = call;
  }
}

/* Whether it is a handler of C++: after it, the call succeeds, or the bindings would call the
 * handler again. */
static int calls_cxx_handler(int kind, int place, void* handle, int* code, Function function) {
  CxxHandler* const call = (CxxHandler*)cxx_handlers[kind * places + place].call;
  if (call == NULL) return 0;
  call(kind, handle, code, function);
  *code = MPI_SUCCESS;
  return 1;
}
#else
#define note_handler(kind, place, made) ((void)0)
#define calls_cxx_handler(kind, place, handle, code, function) 0
#endif

#define ERRHANDLERS(kind, Kind)                                                               \
  typedef void Kind##Handler(F_MPI_##Kind* handle, int* code, ...);                           \
  static Function kind##_table[places];                                                       \
  static void call_##kind##_handler(int place, MPI_##Kind* handle, int* code) {               \
    F_MPI_##Kind own = from_##kind(*handle);                                                  \
    int own_code = from_error(*code);                                                         \
    const int given = own_code;                                                               \
    if (!calls_cxx_handler(cxx_##kind, place, &own, &own_code, kind##_table[place]))          \
      ((Kind##Handler*)kind##_table[place])(&own, &own_code);                                 \
    /* The call returns what the handler has written. */                                      \
    if (own_code != given) *code = to_error(own_code);                                        \
  }                                                                                           \
  REPEAT(SORREL_HANDLER_FUNCTION, kind, Kind)                                                 \
  static MPI_##Kind##_errhandler_function* const kind##_handlers[] = {                        \
      REPEAT(SORREL_NAMED, kind##_handler)};                                                  \
  SORREL_FUNCTION(int, Kind##_create_errhandler,                                              \
                  (Kind##Handler * function, F_MPI_Errhandler * errhandler)) {                \
    SORREL_NOTE_CALLER();                                                                     \
    if (function == NULL || errhandler == NULL)                                               \
      return f_result(S.Kind##_create_errhandler((MPI_##Kind##_errhandler_function*)function, \
                                                 (MPI_Errhandler*)errhandler));               \
    const int place = place_of(kind##_table, (Function)function);                             \
    if (place < 0) return no_place("MPI_" #Kind "_create_errhandler", "error handlers");      \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                \
    const int error = S.Kind##_create_errhandler(kind##_handlers[place], &made);              \
    if (error == MPI_SUCCESS) {                                                               \
      note_handler(cxx_##kind, place, made);                                                  \
      set_errhandler(errhandler, made);                                                       \
    }                                                                                         \
    return f_result(error);                                                                   \
  }

ERRHANDLERS(comm, Comm)
ERRHANDLERS(win, Win)
ERRHANDLERS(file, File)
ERRHANDLERS(session, Session)

/* A function that MPI has removed. */
SORREL_FUNCTION(int, Errhandler_create, (CommHandler * function, F_MPI_Errhandler* errhandler)) {
  return f_Comm_create_errhandler(function, errhandler);
}

/* ---- Attributes. A keyval may be freed while attributes use it, so its state is kept; equal ones
 * share it. ---- */

#ifdef SORREL_CXX_PROXIES
/* `form` says in which form an attribute was set: 0, as a pointer. */
typedef int CxxCopy(Function function,
                    int handle,
                    int keyval,
                    void* extra_state,
                    int form,
                    void* in,
                    void* out,
                    int* flag);
typedef int CxxDelete(
    Function function, int handle, int keyval, int form, void* value, void* extra_state);
#endif

struct Keyval {
  struct Keyval* next;
  Function copy;
  Function remove;
  void* extra_state;
#ifdef SORREL_CXX_PROXIES
  int number; /* the program's */
  CxxCopy* call_copy;
  CxxDelete* call_delete;
#endif
};
static struct Keyval* all_keyvals;

static struct Keyval* keyval_of(Function copy, Function remove, void* extra_state) {
  struct Keyval* first = __atomic_load_n(&all_keyvals, __ATOMIC_ACQUIRE);
  for (struct Keyval* keyval = first; keyval != NULL; keyval = keyval->next) {
    if (keyval->copy == copy && keyval->remove == remove && keyval->extra_state == extra_state)
      return keyval;
  }
  struct Keyval* const made = f_allocate(sizeof *made);
  *made =
      (struct Keyval){.next = first, .copy = copy, .remove = remove, .extra_state = extra_state};
  while (!__atomic_compare_exchange_n(&all_keyvals, &made->next, made, 0, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
  }
  return made;
}

#ifdef SORREL_CXX_PROXIES
/* A freed keyval may have had the same number. */
static void note_keyval(struct Keyval* own, int number) {
  struct Keyval* old = __atomic_load_n(&all_keyvals, __ATOMIC_ACQUIRE);
  for (; old != NULL; old = old->next) {
    if (old->number == number) old->number = MPI_KEYVAL_INVALID;
  }
  own->number = number;
}

#define CALL_CXX_COPY(own, handle, keyval, in, out, flag)                                       \
  if (own->call_copy != NULL)                                                                   \
    return to_error(own->call_copy(own->copy, handle, from_keyval(keyval), own->extra_state, 0, \
                                   in, out, flag));
#define CALL_CXX_DELETE(own, handle, keyval, value) \
  if (own->call_delete != NULL)                     \
    return to_error(                                \
        own->call_delete(own->remove, handle, from_keyval(keyval), 0, value, own->extra_state));

CXX_FUNCTION(Keyval_set_proxy, (int keyval, CxxCopy* call_copy, CxxDelete* call_delete)) {
  struct Keyval* own = __atomic_load_n(&all_keyvals, __ATOMIC_ACQUIRE);
  for (; own != NULL; own = own->next) {
    if (own->number != keyval) continue;
    own->call_copy = call_copy;
    own->call_delete = call_delete;
  }
}
#else
#define note_keyval(own, number) ((void)(own))
#define CALL_CXX_COPY(own, handle, keyval, in, out, flag)
#define CALL_CXX_DELETE(own, handle, keyval, value)
#endif

#define KEYVALS(kind, Kind, H)                                                                    \
  typedef int Kind##Copy(F_MPI_##H handle, int keyval, void* extra_state, void* in, void* out,    \
                         int* flag);                                                              \
  typedef int Kind##Delete(F_MPI_##H handle, int keyval, void* value, void* extra_state);         \
  static int copy_##kind(MPI_##H handle, int keyval, void* extra_state, void* in, void* out,      \
                         int* flag) {                                                             \
    const struct Keyval* const own = extra_state;                                                 \
    CALL_CXX_COPY(own, from_##kind(handle), keyval, in, out, flag)                                \
    return to_error(((Kind##Copy*)own->copy)(from_##kind(handle), from_keyval(keyval),            \
                                             own->extra_state, in, out, flag));                   \
  }                                                                                               \
  static int delete_##kind(MPI_##H handle, int keyval, void* value, void* extra_state) {          \
    const struct Keyval* const own = extra_state;                                                 \
    CALL_CXX_DELETE(own, from_##kind(handle), keyval, value)                                      \
    return to_error(((Kind##Delete*)own->remove)(from_##kind(handle), from_keyval(keyval), value, \
                                                 own->extra_state));                              \
  }

#define KEYVAL_CREATE(kind, Kind, Name, CopyType, DeleteType)                                   \
  SORREL_FUNCTION(int, Name,                                                                    \
                  (Kind##Copy * copy, Kind##Delete * remove, int* keyval, void* extra_state)) { \
    SORREL_NOTE_CALLER();                                                                       \
    const Function own_copy = (Function)copy;                                                   \
    const Function own_remove = (Function)remove;                                               \
    int made = sorrel_unset_int;                                                                \
    struct Keyval* const own = keyval_of(own_copy, own_remove, extra_state);                    \
    const int error = S.Name(f_is_null_copy(own_copy) ? (CopyType*)0                            \
                             : f_is_dup(own_copy)     ? (CopyType*)1                            \
                                                      : copy_##kind,                                \
                             f_is_null_delete(own_remove) ? (DeleteType*)0 : delete_##kind,     \
                             keyval == NULL ? NULL : &made, own);                               \
    if (made != sorrel_unset_int) {                                                             \
      *keyval = from_keyval(made);                                                              \
      note_keyval(own, *keyval);                                                                \
    }                                                                                           \
    return f_result(error);                                                                     \
  }

KEYVALS(comm, Comm, Comm)
KEYVALS(datatype, Type, Datatype)
KEYVALS(win, Win, Win)
KEYVAL_CREATE(
    comm, Comm, Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
KEYVAL_CREATE(comm, Comm, Keyval_create, MPI_Copy_function, MPI_Delete_function)
KEYVAL_CREATE(
    datatype, Type, Type_create_keyval, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function)
KEYVAL_CREATE(win, Win, Win_create_keyval, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function)

/* ---- Generalized requests ---- */

typedef int QueryFunction(void* extra_state, F_MPI_Status* status);

struct Grequest {
  QueryFunction* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

static int query_grequest(void* extra_state, MPI_Status* status) {
  const struct Grequest* const own = extra_state;
  F_MPI_Status own_status;
  memset(&own_status, 0, sizeof own_status);
  from_status(status, &own_status);
  const int error = own->query == NULL ? 0 : own->query(own->extra_state, &own_status);
  to_status(&own_status, status);
  return to_error(error);
}

static int free_grequest(void* extra_state) {
  struct Grequest* const own = extra_state;
  const int error = own->free == NULL ? 0 : own->free(own->extra_state);
  free(own);
  return to_error(error);
}

static int cancel_grequest(void* extra_state, int is_complete) {
  const struct Grequest* const own = extra_state;
  return own->cancel == NULL ? MPI_SUCCESS : to_error(own->cancel(own->extra_state, is_complete));
}

SORREL_FUNCTION(int,
                Grequest_start,
                (QueryFunction * query,
                 MPI_Grequest_free_function* free_fn,
                 MPI_Grequest_cancel_function* cancel,
                 void* extra_state,
                 F_MPI_Request* request)) {
  SORREL_NOTE_CALLER();
  struct Grequest* const own = f_allocate(sizeof *own);
  *own = (struct Grequest){query, free_fn, cancel, extra_state};
  MPI_Request made = MPI_REQUEST_NULL;
  /* The standard's function refuses null pointers. */
  const int error = S.Grequest_start(
      query == NULL ? NULL : query_grequest, free_fn == NULL ? NULL : free_grequest,
      cancel == NULL ? NULL : cancel_grequest, own, request == NULL ? NULL : &made);
  if (error == MPI_SUCCESS) {
    set_generalized_request(request, made);
  } else {
    free(own);
  }
  return f_result(error);
}

/* ---- Data representations. They cannot be removed, and so keep their state. ---- */

typedef int ConversionFunction(void* userbuf,
                               F_MPI_Datatype datatype,
                               int count,
                               void* filebuf,
                               MPI_Offset position,
                               void* extra_state);
typedef int ConversionFunctionC(void* userbuf,
                                F_MPI_Datatype datatype,
                                MPI_Count count,
                                void* filebuf,
                                MPI_Offset position,
                                void* extra_state);
typedef int ExtentFunction(F_MPI_Datatype datatype, MPI_Aint* extent, void* extra_state);

struct Datarep {
  Function read;
  Function write;
  ExtentFunction* extent;
  void* extra_state;
};

#define CONVERSION(name, Type, Count, member)                                              \
  static int name(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,        \
                  MPI_Offset position, void* extra) {                                      \
    const struct Datarep* const own = extra;                                               \
    return to_error(((Type*)own->member)(userbuf, from_datatype(datatype), count, filebuf, \
                                         position, own->extra_state));                     \
  }
CONVERSION(read_data, ConversionFunction, int, read)
CONVERSION(write_data, ConversionFunction, int, write)

static int extent_of_data(MPI_Datatype datatype, MPI_Aint* extent, void* extra) {
  const struct Datarep* const own = extra;
  return to_error(own->extent(from_datatype(datatype), extent, own->extra_state));
}

#define REGISTER(Name, Type, read_function, write_function)                                        \
  SORREL_FUNCTION(                                                                                 \
      int, Name,                                                                                   \
      (const char* datarep, Type* read, Type* write, ExtentFunction* extent, void* extra_state)) { \
    SORREL_NOTE_CALLER();                                                                          \
    struct Datarep* const own = f_allocate(sizeof *own);                                           \
    *own = (struct Datarep){(Function)read, (Function)write, extent, extra_state};                 \
    const int error = S.Name(datarep, read == NULL ? NULL : read_function,                         \
                             write == NULL ? NULL : write_function,                                \
                             extent == NULL ? NULL : extent_of_data, own);                         \
    if (error != MPI_SUCCESS) free(own);                                                           \
    return f_result(error);                                                                        \
  }
REGISTER(Register_datarep, ConversionFunction, read_data, write_data)
#ifdef SORREL_LARGE_COUNTS
CONVERSION(read_data_c, ConversionFunctionC, MPI_Count, read)
CONVERSION(write_data_c, ConversionFunctionC, MPI_Count, write)
REGISTER(Register_datarep_c, ConversionFunctionC, read_data_c, write_data_c)
#endif
