/* MPICH's binary interface. A handle is an integer, but for files. Predefined ones are constants;
 * others are the integers that the standard's MPI_X_toint gives, which are small positive numbers,
 * as no constant of MPICH is. */
#pragma once

#include "translate/mpich_types.h"

/* Requests that the runtime recycles have a memory of their own (near requests): a request's
 * integer is its place there. Without that memory the number of its places is 0. */
#define F_HOT               \
  uintptr_t request_memory; \
  unsigned request_place_count;
#define F_HOT_VALUES (uintptr_t)1 << 63, 0

#include "translate/translate.h"

/* Codes that a program adds must exceed MPI_ERR_LASTCODE. */
#define F_CODE_SHIFT (0x3fffffff - MPI_ERR_LASTCODE)

#define OTHER_HANDLES(kind, Kind, Name, null_handle)                \
  static inline MPI_##Kind other_to_##kind(F_MPI_##Kind handle) {   \
    if ((unsigned)handle < first_object) return (MPI_##Kind)0;      \
    const MPI_##Kind own = R.Name##_fromint(handle);                \
    return own == null_handle ? (MPI_##Kind)0 : own;                \
  }                                                                 \
  static inline F_MPI_##Kind other_from_##kind(MPI_##Kind handle) { \
    return R.Name##_toint(handle);                                  \
  }
OTHER_HANDLES(comm, Comm, Comm, MPI_COMM_NULL)
OTHER_HANDLES(datatype, Datatype, Type, MPI_DATATYPE_NULL)
OTHER_HANDLES(group, Group, Group, MPI_GROUP_NULL)
OTHER_HANDLES(info, Info, Info, MPI_INFO_NULL)
OTHER_HANDLES(message, Message, Message, MPI_MESSAGE_NULL)
OTHER_HANDLES(op, Op, Op, MPI_OP_NULL)
OTHER_HANDLES(session, Session, Session, MPI_SESSION_NULL)
OTHER_HANDLES(win, Win, Win, MPI_WIN_NULL)

/* MPI::ERRORS_THROW_EXCEPTIONS: a call returns its error, and the C++ bindings, which ask for the
 * handler, throw. So each kind of object has a handler of its own that does nothing. */
enum { f_errors_throw = 0x54000002 };

MPI_Errhandler f_throwing_comm(void) __attribute__((visibility("hidden")));
MPI_Errhandler f_throwing_win(void) __attribute__((visibility("hidden")));
MPI_Errhandler f_throwing_file(void) __attribute__((visibility("hidden")));
int f_is_throwing(MPI_Errhandler handle) __attribute__((visibility("hidden")));

static inline MPI_Errhandler other_to_errhandler(F_MPI_Errhandler handle) {
  if (handle == f_errors_throw) return MPI_ERRORS_RETURN;
  if ((unsigned)handle < first_object) return (MPI_Errhandler)0;
  const MPI_Errhandler own = R.Errhandler_fromint(handle);
  return own == MPI_ERRHANDLER_NULL ? (MPI_Errhandler)0 : own;
}

static inline F_MPI_Errhandler other_from_errhandler(MPI_Errhandler handle) {
  return f_is_throwing(handle) ? f_errors_throw : R.Errhandler_toint(handle);
}

/* Other requests, as persistent ones, are in a list: their integers are places of it. A place has
 * the address of a request, or if it is free an odd number. A generalized request may be completed
 * after MPI_Request_free, and so has the integer of MPI_Request_toint, moved. */
enum {
  f_request_part = 4096,
  f_generalized_requests = 0x10000000,
  f_near_requests = 0x30000000,
  f_request_place_bytes = 8
};

MPI_Request f_far_request(int handle) __attribute__((visibility("hidden")));
int f_add_request(MPI_Request handle) __attribute__((visibility("hidden")));
void f_remove_request(int handle) __attribute__((visibility("hidden")));

static inline int is_near_request(F_MPI_Request handle) {
  return (unsigned)handle - f_near_requests < f_hot.request_place_count;
}

static inline MPI_Request near_to_request(F_MPI_Request handle) {
  const uintptr_t place = (unsigned)handle - f_near_requests;
  return (MPI_Request)(f_hot.request_memory + place * f_request_place_bytes);
}

static inline int is_near(MPI_Request handle) {
  return (uintptr_t)handle - f_hot.request_memory <
         (uintptr_t)f_hot.request_place_count * f_request_place_bytes;
}

static inline F_MPI_Request near_from_request(MPI_Request handle) {
  const uintptr_t place = ((uintptr_t)handle - f_hot.request_memory) / f_request_place_bytes;
  return (F_MPI_Request)place + f_near_requests;
}

static inline MPI_Request other_to_request(F_MPI_Request handle) {
  return f_far_request(handle);
}

static inline F_MPI_Request other_from_request(MPI_Request handle) {
  return f_add_request(handle);
}

#include "mpich_values.h"

#define SORREL_HANDLER_OF(kind)                                                    \
  static inline MPI_Errhandler to_##kind##_errhandler(F_MPI_Errhandler handle) {   \
    return handle == f_errors_throw ? f_throwing_##kind() : to_errhandler(handle); \
  }
SORREL_HANDLER_OF(comm)
SORREL_HANDLER_OF(win)
SORREL_HANDLER_OF(file)

#undef F_MPI_STATUS_IGNORE
#undef F_MPI_STATUSES_IGNORE
#define F_MPI_STATUS_IGNORE ((F_MPI_Status*)1)
#define F_MPI_STATUSES_IGNORE ((F_MPI_Status*)1)

static inline const void* to_buffer(const void* buffer) {
  if (__builtin_expect((uintptr_t)buffer < (uintptr_t)F_MPI_BUFFER_AUTOMATIC, 1)) return buffer;
  return buffer == (const void*)F_MPI_IN_PLACE ? MPI_IN_PLACE : MPI_BUFFER_AUTOMATIC;
}

/* The program's constants are the values of these variables, which are exported. */
extern int* const f_unweighted __asm__("MPI_UNWEIGHTED") __attribute__((visibility("default")));
extern int* const f_weights_empty __asm__("MPI_WEIGHTS_EMPTY")
    __attribute__((visibility("default")));

static inline int* to_weights(const int* weights) {
  if (weights == f_unweighted) return MPI_UNWEIGHTED;
  return weights == f_weights_empty ? MPI_WEIGHTS_EMPTY : (int*)weights;
}

static inline void to_status(const F_MPI_Status* from, MPI_Status* to) {
  to->MPI_SOURCE = to_rank(from->MPI_SOURCE);
  to->MPI_TAG = to_tag(from->MPI_TAG);
  to->MPI_ERROR = to_error(from->MPI_ERROR);
  const uint64_t high = (unsigned)from->count_high_and_cancelled >> 1;
  set_status_bytes(to, high << 32 | (unsigned)from->count_low);
  to->MPI_internal[2] = from->count_high_and_cancelled & 1;
}

static inline void from_status(const MPI_Status* from, F_MPI_Status* to) {
  if (from->MPI_ERROR != sorrel_unset_int) to->MPI_ERROR = from_error(from->MPI_ERROR);
  if (from->MPI_TAG == sorrel_unset_int) return;
  to->MPI_SOURCE = from_rank(from->MPI_SOURCE);
  to->MPI_TAG = from_tag(from->MPI_TAG);
  const uint64_t bytes = status_bytes(from);
  to->count_low = (int)(unsigned)bytes;
  to->count_high_and_cancelled = (int)((unsigned)(bytes >> 32) << 1 | (from->MPI_internal[2] != 0));
}

SORREL_KINDS(SORREL_VARIABLE)

static inline void set_generalized_request(F_MPI_Request* place, MPI_Request handle) {
  *place = R.Request_toint(handle) + f_generalized_requests;
}

/* A call ends requests, and replaces none. A request that has ended leaves its place. */
static inline void refresh_request(F_MPI_Request* place, MPI_Request handle) {
  if (handle != MPI_REQUEST_NULL) return;
  if (!is_near_request(*place)) f_remove_request(*place);
  *place = from_request(MPI_REQUEST_NULL);
}

/* The general form of MPI_Waitall. */
SORREL_ANY int f_any_Waitall(int count, F_MPI_Request requests[], F_MPI_Status* statuses);

/* The datatypes that mark bounds. */
#define f_lower_bound ((F_MPI_Datatype)0x4c000010)
#define f_upper_bound ((F_MPI_Datatype)0x4c000011)

/* The program's constant is the value of this variable, which is exported. */
extern const MPI_T_pvar_handle f_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES")
    __attribute__((visibility("default")));

static inline MPI_T_pvar_handle to_pvar_handle(MPI_T_pvar_handle handle) {
  return handle == f_all_handles ? MPI_T_PVAR_ALL_HANDLES : handle;
}
