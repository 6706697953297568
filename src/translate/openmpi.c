/* What Open MPI's interface has beyond the standard's functions. */
#include "translate/openmpi.h"

#include "translate/callbacks.h"

struct f_object ompi_mpi_lb = {f_magic ^ 1, 0};
struct f_object ompi_mpi_ub = {f_magic ^ 2, 0};

/* The number of a level; any other one is the highest. */
int f_usual_thread_level(void) {
  static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                               MPI_THREAD_MULTIPLE};
  const char* text = getenv("OMPI_MPI_THREAD_LEVEL");
  if (text == NULL) return MPI_THREAD_SINGLE;
  const int number = atoi(text);
  return levels[number < 0 || number > 3 ? 3 : number];
}

/* ---- Callbacks of attributes ---- */

#define NULL_COPY(name, Kind)                                                               \
  __attribute__((visibility("default"))) int name(                                          \
      F_MPI_##Kind handle, int keyval, void* extra_state, void* in, void* out, int* flag) { \
    (void)handle, (void)keyval, (void)extra_state, (void)in, (void)out;                     \
    *flag = 0;                                                                              \
    return MPI_SUCCESS;                                                                     \
  }
#define DUP(name, Kind)                                                                     \
  __attribute__((visibility("default"))) int name(                                          \
      F_MPI_##Kind handle, int keyval, void* extra_state, void* in, void* out, int* flag) { \
    (void)handle, (void)keyval, (void)extra_state;                                          \
    *flag = 1;                                                                              \
    *(void**)out = in;                                                                      \
    return MPI_SUCCESS;                                                                     \
  }
#define NULL_DELETE(name, Kind)                                                                 \
  __attribute__((visibility("default"))) int name(F_MPI_##Kind handle, int keyval, void* value, \
                                                  void* extra_state) {                          \
    (void)handle, (void)keyval, (void)value, (void)extra_state;                                 \
    return MPI_SUCCESS;                                                                         \
  }
#define CALLBACKS(prefix, Kind)                      \
  NULL_COPY(OMPI_C_MPI_##prefix##NULL_COPY_FN, Kind) \
  DUP(OMPI_C_MPI_##prefix##DUP_FN, Kind)             \
  NULL_DELETE(OMPI_C_MPI_##prefix##NULL_DELETE_FN, Kind)
CALLBACKS(, Comm)
CALLBACKS(COMM_, Comm)
CALLBACKS(TYPE_, Datatype)
CALLBACKS(WIN_, Win)

#define IS_ONE_OF(name)                                                    \
  return function == NULL || function == (f_Function*)OMPI_C_MPI_##name || \
         function == (f_Function*)OMPI_C_MPI_COMM_##name ||                \
         function == (f_Function*)OMPI_C_MPI_TYPE_##name ||                \
         function == (f_Function*)OMPI_C_MPI_WIN_##name

int f_is_null_copy(f_Function* function) {
  IS_ONE_OF(NULL_COPY_FN);
}

int f_is_dup(f_Function* function) {
  if (function == NULL) return 0;
  IS_ONE_OF(DUP_FN);
}

int f_is_null_delete(f_Function* function) {
  IS_ONE_OF(NULL_DELETE_FN);
}

/* ---- Handles as Fortran's integers ---- */

#define FORTRAN(kind, Kind, Name)                           \
  SORREL_FUNCTION(int, Name##_c2f, (F_MPI_##Kind handle)) { \
    SORREL_NOTE_CALLER();                                   \
    return fortran_of_##kind(handle);                       \
  }                                                         \
  SORREL_FUNCTION(F_MPI_##Kind, Name##_f2c, (int number)) { \
    SORREL_NOTE_CALLER();                                   \
    return kind##_of_fortran(number);                       \
  }
FORTRAN(comm, Comm, Comm)
FORTRAN(datatype, Datatype, Type)
FORTRAN(errhandler, Errhandler, Errhandler)
FORTRAN(file, File, File)
FORTRAN(group, Group, Group)
FORTRAN(info, Info, Info)
FORTRAN(message, Message, Message)
FORTRAN(op, Op, Op)
FORTRAN(request, Request, Request)
FORTRAN(session, Session, Session)
FORTRAN(win, Win, Win)

void f_begin(void) {}

/* ---- Waiting ---- */

/* The list's own elements serve the standard's function meanwhile: a request that has ended is null
 * in both interfaces, and all others are equal. */
typedef uintptr_t f_word __attribute__((may_alias));

SORREL_WAITS SORREL_FUNCTION(int,
                             Waitall,
                             (int count, F_MPI_Request requests[], F_MPI_Status* statuses)) {
  SORREL_NOTE_CALLER();
  f_word* const words = (f_word*)requests;
  const uintptr_t none = (uintptr_t)f_hot.request_null;
  if (statuses != F_MPI_STATUSES_IGNORE || requests == NULL)
    return f_any_Waitall(count, requests, statuses);
  for (int i = 0; i < count; ++i) {
    if (words[i] == none) words[i] = (uintptr_t)MPI_REQUEST_NULL;
  }
  const int outcome = S.Waitall(count, (MPI_Request*)requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    if (words[i] == (uintptr_t)MPI_REQUEST_NULL) words[i] = none;
  }
  return f_result(outcome);
}

/* ---- Functions beyond MPI ---- */

/* A function of the library that runs the ranks. */
int sorrel_query_cuda_support(void);
#pragma weak sorrel_query_cuda_support

SORREL_EXTENSION(int, Query_cuda_support, (void)) {
  return sorrel_query_cuda_support != NULL && sorrel_query_cuda_support() != 0;
}

SORREL_EXTENSION(int, Query_rocm_support, (void)) {
  return 0;
}

enum { affinity_text_max = 1024 };

/* Where the rank runs: on a worker, whose core the job chooses. */
__attribute__((visibility("default"))) int OMPI_Affinity_str(int format,
                                                             char bound[affinity_text_max],
                                                             char current[affinity_text_max],
                                                             char exists[affinity_text_max]) {
  (void)format;
  copy_text("not bound: a rank is a user-level thread", bound, affinity_text_max, NULL);
  copy_text("that of its worker", current, affinity_text_max, NULL);
  copy_text("those of the job", exists, affinity_text_max, NULL);
  return MPI_SUCCESS;
}
