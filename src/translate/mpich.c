/* What MPICH's interface has beyond the standard's functions. */
#include "translate/mpich.h"

#include <stdio.h>
#include <strings.h>

#include "translate/callbacks.h"

static int no_weights[2];
int* const f_unweighted = &no_weights[0];
int* const f_weights_empty = &no_weights[1];

static char all_handles;
const MPI_T_pvar_handle f_all_handles = (MPI_T_pvar_handle)&all_handles;

/* The name of a level; any other text is none. */
int f_usual_thread_level(void) {
  static const struct {
    const char* name;
    int level;
  } levels[] = {{"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

  const char* text = getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL");
  for (unsigned i = 0; text != NULL && i < sizeof levels / sizeof levels[0]; i++) {
    if (strcasecmp(text, levels[i].name) == 0) return levels[i].level;
  }
  return MPI_THREAD_SINGLE;
}

/* The callback that copies an attribute. */
__attribute__((visibility("default"))) int MPIR_Dup_fn(
    F_MPI_Comm handle, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)handle, (void)keyval, (void)extra_state;
  *flag = 1;
  *(void**)out = in;
  return MPI_SUCCESS;
}

int f_is_null_copy(f_Function* function) {
  return function == NULL;
}

int f_is_dup(f_Function* function) {
  return function == (f_Function*)MPIR_Dup_fn;
}

int f_is_null_delete(f_Function* function) {
  return function == NULL;
}

/* ---- The handlers of the C++ bindings that throw. A thread that loses the race keeps one. ---- */

#define THROWING(kind, Kind)                                                                \
  static MPI_Errhandler throwing_##kind;                                                    \
  static void return_from_##kind(MPI_##Kind* handle, int* code, ...) {                      \
    (void)handle, (void)code;                                                               \
  }                                                                                         \
  MPI_Errhandler f_throwing_##kind(void) {                                                  \
    MPI_Errhandler found = __atomic_load_n(&throwing_##kind, __ATOMIC_ACQUIRE);             \
    MPI_Errhandler made = MPI_ERRORS_RETURN;                                                \
    if (found != (MPI_Errhandler)0 ||                                                       \
        R.Kind##_create_errhandler(return_from_##kind, &made) != MPI_SUCCESS)               \
      return found == (MPI_Errhandler)0 ? made : found;                                     \
    return __atomic_compare_exchange_n(&throwing_##kind, &found, made, 0, __ATOMIC_ACQ_REL, \
                                       __ATOMIC_ACQUIRE)                                    \
               ? made                                                                       \
               : found;                                                                     \
  }
THROWING(comm, Comm)
THROWING(win, Win)
THROWING(file, File)

int f_is_throwing(MPI_Errhandler handle) {
  return handle == __atomic_load_n(&throwing_comm, __ATOMIC_ACQUIRE) ||
         handle == __atomic_load_n(&throwing_win, __ATOMIC_ACQUIRE) ||
         handle == __atomic_load_n(&throwing_file, __ATOMIC_ACQUIRE);
}

/* ---- Requests of the list. The first word of the list of free places is under the lock, which a
 * rank with one thread does not need. ---- */

static uintptr_t* requests[f_request_part];
static int place_count;
static uintptr_t first_free = 1; /* 2 * place + 3; 1: none */
static char is_locked;

static void lock_requests(void) {
  while (f_hot.threads_may_call != 0 && __atomic_test_and_set(&is_locked, __ATOMIC_ACQUIRE))
    continue;
}

static void unlock_requests(void) {
  __atomic_clear(&is_locked, __ATOMIC_RELEASE);
}

static uintptr_t* place_at(int place) {
  return &requests[place / f_request_part][place % f_request_part];
}

/* Under the lock: one place more. */
static int add_place(void) {
  const int place = place_count;
  if (place == f_request_part * f_request_part) {
    fputs("sorrel: a rank can have 16777216 persistent requests at a time\n", stderr);
    abort();
  }
  if (place % f_request_part == 0)
    requests[place / f_request_part] = f_allocate(f_request_part * sizeof(uintptr_t));
  *place_at(place) = 1;
  __atomic_store_n(&place_count, place + 1, __ATOMIC_RELEASE);
  return place;
}

int f_add_request(MPI_Request handle) {
  lock_requests();
  int place = 0;
  if (first_free == 1) {
    place = add_place();
  } else {
    place = (int)((first_free - 3) / 2);
    first_free = *place_at(place);
  }
  *place_at(place) = (uintptr_t)handle;
  unlock_requests();
  return place + (int)first_object;
}

/* Null: the number is no request's. */
MPI_Request f_far_request(int handle) {
  const unsigned place = (unsigned)handle - (unsigned)first_object;
  if (place < (unsigned)__atomic_load_n(&place_count, __ATOMIC_ACQUIRE)) {
    const uintptr_t value = *place_at((int)place);
    return (MPI_Request)(value % 2 == 0 ? value : 0);
  }
  const unsigned number = (unsigned)handle - f_generalized_requests;
  if (number < first_object || number >= f_near_requests - f_generalized_requests)
    return (MPI_Request)0;
  const MPI_Request own = R.Request_fromint((int)number);
  return own == MPI_REQUEST_NULL ? (MPI_Request)0 : own;
}

/* Null, and generalized requests, are in no list. */
void f_remove_request(int handle) {
  const int place = handle - (int)first_object;
  if (place < 0 || place >= __atomic_load_n(&place_count, __ATOMIC_ACQUIRE)) return;
  lock_requests();
  *place_at(place) = first_free;
  first_free = 2 * (uintptr_t)place + 3;
  unlock_requests();
}

void f_begin(void) {
  unsigned count = 0;
  void* const memory = sorrel_request_memory(f_request_place_bytes, &count);
  if (memory == NULL) return;
  f_hot.request_memory = (uintptr_t)memory;
  f_hot.request_place_count = count;
}

SORREL_WAITS SORREL_FUNCTION(int,
                             Waitall,
                             (int count, F_MPI_Request list[], F_MPI_Status* statuses)) {
  SORREL_NOTE_CALLER();
  const F_MPI_Request none = from_request(MPI_REQUEST_NULL);
  MPI_Request own[sorrel_few];
  if (statuses != F_MPI_STATUSES_IGNORE || list == NULL || count > sorrel_few || count <= 0)
    return f_any_Waitall(count, list, statuses);
  for (int i = 0; i < count; ++i)
    own[i] = to_request(list[i]);
  const int outcome = S.Waitall(count, own, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    if (own[i] != MPI_REQUEST_NULL) continue;
    if (!is_near_request(list[i])) f_remove_request(list[i]);
    list[i] = none;
  }
  return f_result(outcome);
}

/* ---- Files as Fortran's integers; other handles are integers themselves ---- */

SORREL_FUNCTION(int, File_c2f, (F_MPI_File file)) {
  SORREL_NOTE_CALLER();
  return file == NULL ? 0 : R.File_toint(to_file(file));
}

SORREL_FUNCTION(F_MPI_File, File_f2c, (int number)) {
  SORREL_NOTE_CALLER();
  return number < (int)first_object ? NULL : from_file(R.File_fromint(number));
}

/* ---- Functions beyond MPI. A rank that fails ends its job, so no communicator has failed ranks.
 * ---- */

/* A function of the library that runs the ranks. */
int sorrel_query_cuda_support(void);
#pragma weak sorrel_query_cuda_support

SORREL_EXTENSION(int, Query_cuda_support, (void)) {
  return sorrel_query_cuda_support != NULL && sorrel_query_cuda_support() != 0;
}

SORREL_EXTENSION(int, Query_hip_support, (void)) {
  return 0;
}

SORREL_EXTENSION(int, Query_ze_support, (void)) {
  return 0;
}

SORREL_EXTENSION(int, GPU_query_support, (int kind, int* is_supported)) {
  (void)kind;
  *is_supported = 0;
  return MPI_SUCCESS;
}

SORREL_EXTENSION(int, Comm_failure_ack, (F_MPI_Comm comm)) {
  SORREL_NOTE_CALLER();
  int own = 0;
  return f_result(S.Comm_rank(to_comm(comm), &own));
}

SORREL_EXTENSION(int, Comm_failure_get_acked, (F_MPI_Comm comm, F_MPI_Group* failed)) {
  SORREL_NOTE_CALLER();
  int own = 0;
  const int error = S.Comm_rank(to_comm(comm), &own);
  if (error == MPI_SUCCESS) set_group(failed, MPI_GROUP_EMPTY);
  return f_result(error);
}

SORREL_EXTENSION(int, Comm_agree, (F_MPI_Comm comm, int* flag)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Allreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, to_comm(comm)));
}

SORREL_EXTENSION(int, Comm_shrink, (F_MPI_Comm comm, F_MPI_Comm* newcomm)) {
  SORREL_NOTE_CALLER();
  MPI_Comm made = MPI_COMM_NULL;
  const int error = S.Comm_split(to_comm(comm), 0, 0, &made);
  if (error == MPI_SUCCESS) set_comm(newcomm, made);
  return f_result(error);
}

SORREL_EXTENSION(int, Delete_error_class, (int error_class)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Remove_error_class(to_error(error_class)));
}

SORREL_EXTENSION(int, Delete_error_code, (int code)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Remove_error_code(to_error(code)));
}

SORREL_EXTENSION(int, Delete_error_string, (int code)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Remove_error_string(to_error(code)));
}
