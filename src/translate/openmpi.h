/* Open MPI's binary interface. A handle is the address of an object. Each predefined object is
 * exported; its first word, less a magic number, is the standard's handle. Other handles are the
 * standard's. */
#pragma once

#include "translate/openmpi_types.h"

/* Programs may have larger objects: the loader copies what this library has. */
struct f_object {
  uintptr_t word;
  uintptr_t unused;
};

/* Addresses of objects, which the program may have. */
#define F_HOT                        \
  const struct f_object* comm_world; \
  const struct f_object* comm_null;  \
  const struct f_object* comm_self;  \
  const struct f_object* request_null;
#define F_HOT_VALUES \
  &ompi_mpi_comm_world, &ompi_mpi_comm_null, &ompi_mpi_comm_self, &ompi_request_null

#include "translate/translate.h"

/* What is added to the codes that a program adds. */
#define F_CODE_SHIFT 0

#include "openmpi_values.h"

#undef F_MPI_STATUS_IGNORE
#undef F_MPI_STATUSES_IGNORE
#define F_MPI_STATUS_IGNORE ((F_MPI_Status*)0)
#define F_MPI_STATUSES_IGNORE ((F_MPI_Status*)0)

static inline const void* to_buffer(const void* buffer) {
  return buffer; /* MPI_BOTTOM and MPI_IN_PLACE are the standard's */
}

static inline int* to_weights(const int* weights) {
  if (weights == (const int*)F_MPI_UNWEIGHTED) return MPI_UNWEIGHTED;
  if (weights == (const int*)F_MPI_WEIGHTS_EMPTY) return MPI_WEIGHTS_EMPTY;
  return (int*)weights;
}

static inline void to_status(const F_MPI_Status* from, MPI_Status* to) {
  to->MPI_SOURCE = to_rank(from->MPI_SOURCE);
  to->MPI_TAG = to_tag(from->MPI_TAG);
  to->MPI_ERROR = to_error(from->MPI_ERROR);
  set_status_bytes(to, from->byte_count);
  to->MPI_internal[2] = from->is_cancelled;
}

static inline void from_status(const MPI_Status* from, F_MPI_Status* to) {
  if (from->MPI_ERROR != sorrel_unset_int) to->MPI_ERROR = from_error(from->MPI_ERROR);
  if (from->MPI_TAG == sorrel_unset_int) return;
  to->MPI_SOURCE = from_rank(from->MPI_SOURCE);
  to->MPI_TAG = from_tag(from->MPI_TAG);
  to->is_cancelled = from->MPI_internal[2];
  to->byte_count = status_bytes(from);
}

SORREL_KINDS(SORREL_VARIABLE)

static inline void set_generalized_request(F_MPI_Request* place, MPI_Request handle) {
  set_request(place, handle);
}

static inline void refresh_request(F_MPI_Request* place, MPI_Request handle) {
  if (handle != (MPI_Request)*place) *place = from_request(handle);
}

/* The general form of MPI_Waitall. */
SORREL_ANY int f_any_Waitall(int count, F_MPI_Request requests[], F_MPI_Status* statuses);

/* The datatypes that mark bounds. Their words are no handles of the standard's. */
extern __attribute__((visibility("default"))) struct f_object ompi_mpi_lb, ompi_mpi_ub;
#define f_lower_bound ((F_MPI_Datatype) & ompi_mpi_lb)
#define f_upper_bound ((F_MPI_Datatype) & ompi_mpi_ub)

static inline MPI_T_pvar_handle to_pvar_handle(MPI_T_pvar_handle handle) {
  return (intptr_t)handle == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}
