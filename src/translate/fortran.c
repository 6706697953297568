/* What the Fortran interfaces of other MPIs have beyond the standard's. Compiled for each family.
 * Names that several procedures share are in the list that make_translation.py writes. */
#include "fortran/shim.h"

/* ---- Sizes of variables, and comparisons of handles ---- */

#define SIZE(bytes)                                                        \
  void sorrel_size_##bytes(const void* variable, int* size, int* ierror) { \
    (void)variable;                                                        \
    *size = bytes;                                                         \
    sorrel_return(ierror, MPI_SUCCESS);                                    \
  }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
SIZE(32)

int sorrel_are_equal(const int* a, const int* b) {
  return *a == *b;
}

int sorrel_are_different(const int* a, const int* b) {
  return *a != *b;
}

/* ---- Functions that MPI has removed. Addresses are INTEGER: as long as they differ by less than 2
 * GB, differences are right. ---- */

void pmpi_address_(void* location, int* address, int* ierror) {
  MPI_Aint wide = 0;
  const int error = MPI_Get_address(sorrel_address(location), &wide);
  if (error == MPI_SUCCESS) *address = (int)wide;
  sorrel_return(ierror, error);
}

/* A number that INTEGER does not hold is an error. */
static int give_extent(MPI_Aint wide, int* extent, int* ierror, const char* function) {
  int error = MPI_SUCCESS;
  *extent = (int)wide;
  if (*extent != wide)
    error = sorrel_fail(MPI_ERR_ARG, function,
                        "the result exceeds an INTEGER; call MPI_TYPE_GET_EXTENT");
  sorrel_return(ierror, error);
  return error;
}

#define EXTENT(name, Name, value)                                                        \
  void pmpi_type_##name##_(const int* datatype, int* result, int* ierror) {              \
    MPI_Aint lower = 0;                                                                  \
    MPI_Aint extent = 0;                                                                 \
    const int error = MPI_Type_get_extent(sorrel_from_Type(*datatype), &lower, &extent); \
    if (error != MPI_SUCCESS) {                                                          \
      sorrel_return(ierror, error);                                                      \
    } else {                                                                             \
      give_extent(value, result, ierror, "MPI_" Name);                                   \
    }                                                                                    \
  }
EXTENT(extent, "Type_extent", extent)
EXTENT(lb, "Type_lb", lower)
EXTENT(ub, "Type_ub", lower + extent)

static void give_type(int error, MPI_Datatype made, int* newtype, int* ierror) {
  if (error == MPI_SUCCESS) *newtype = sorrel_to_Type(made);
  sorrel_return(ierror, error);
}

void pmpi_type_hvector_(const int* count,
                        const int* length,
                        const int* stride,
                        const int* oldtype,
                        int* newtype,
                        int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error =
      MPI_Type_create_hvector(*count, *length, *stride, sorrel_from_Type(*oldtype), &made);
  give_type(error, made, newtype, ierror);
}

static MPI_Aint* wide_list(const int* numbers, int count) {
  MPI_Aint* const list = sorrel_memory(count, sizeof *list);
  for (int i = 0; i < count; ++i)
    list[i] = numbers[i];
  return list;
}

void pmpi_type_hindexed_(const int* count,
                         const int* lengths,
                         const int* displacements,
                         const int* oldtype,
                         int* newtype,
                         int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Aint* const wide = wide_list(displacements, *count);
  const int error =
      MPI_Type_create_hindexed(*count, lengths, wide, sorrel_from_Type(*oldtype), &made);
  free(wide);
  give_type(error, made, newtype, ierror);
}

void pmpi_type_struct_(const int* count,
                       const int* lengths,
                       const int* displacements,
                       const int* oldtypes,
                       int* newtype,
                       int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Aint* const wide = wide_list(displacements, *count);
  SORREL_ARRAY(MPI_Datatype, oldtypes, *count);
  sorrel_read_Type(oldtypes, oldtypes_c, oldtypes_n);
  const int error = MPI_Type_create_struct(*count, lengths, wide, oldtypes_c, &made);
  SORREL_END_ARRAY(oldtypes);
  free(wide);
  give_type(error, made, newtype, ierror);
}

/* ---- Data representations, which cannot be removed ---- */

typedef void Conversion(void* userbuf,
                        int* datatype,
                        int* count,
                        void* filebuf,
                        MPI_Offset* position,
                        MPI_Aint* extra_state,
                        int* ierror);
typedef void Extent(int* datatype, MPI_Aint* extent, MPI_Aint* extra_state, int* ierror);

struct representation {
  Conversion* read;
  Conversion* write;
  Extent* extent;
  MPI_Aint extra_state;
};

void mpi_conversion_fn_null_(void* userbuf,
                             int* datatype,
                             int* count,
                             void* filebuf,
                             MPI_Offset* position,
                             MPI_Aint* extra_state,
                             int* ierror) {
  (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)position, (void)extra_state;
  *ierror = MPI_SUCCESS;
}

#define CONVERT(member)                                                                    \
  static int member##_data(void* userbuf, MPI_Datatype datatype, int count, void* filebuf, \
                           MPI_Offset position, void* extra_state) {                       \
    struct representation* const own = extra_state;                                        \
    int number = sorrel_to_Type(datatype);                                                 \
    int error = MPI_SUCCESS;                                                               \
    own->member(userbuf, &number, &count, filebuf, &position, &own->extra_state, &error);  \
    return error;                                                                          \
  }
CONVERT(read)
CONVERT(write)

static int extent_of_data(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state) {
  struct representation* const own = extra_state;
  int number = sorrel_to_Type(datatype);
  int error = MPI_SUCCESS;
  own->extent(&number, extent, &own->extra_state, &error);
  return error;
}

void pmpi_register_datarep_(const char* datarep,
                            Conversion* read,
                            Conversion* write,
                            Extent* extent,
                            const MPI_Aint* extra_state,
                            int* ierror,
                            size_t datarep_length) {
  char* const name = sorrel_string(datarep, datarep_length);
  struct representation* const own = sorrel_memory(1, sizeof *own);
  *own = (struct representation){read, write, extent, *extra_state};
  const int error = MPI_Register_datarep(name, read == mpi_conversion_fn_null_ ? NULL : read_data,
                                         write == mpi_conversion_fn_null_ ? NULL : write_data,
                                         extent_of_data, own);
  if (error != MPI_SUCCESS) free(own);
  free(name);
  sorrel_return(ierror, error);
}
