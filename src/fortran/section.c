/* Noncontiguous array sections: copied for blocking calls, datatypes for others. MPI 5.0, 19.1.12.
 */
#include <stdio.h>
#include <string.h>

#include "fortran/shim.h"

/* Ends the job if another compiler than gfortran has made the descriptor: an executable that was
 * built with another MPI may come from any. Descriptors of gfortran have the version 0;
 * those of ISO_Fortran_binding.h have a version in the place of the element's size. */
static void check_compiler(const struct sorrel_descriptor* array) {
#ifdef SORREL_TRANSLATED
  enum { iso_version = 20180515 };

  if (__builtin_expect(array->version == 0 && (unsigned)array->element_size != iso_version, 1))
    return;
  fputs(
      "sorrel: mpi_f08: the program is not compiled with gfortran, and Sorrel does not have its "
      "compiler's descriptors of arrays; compile it with gfortran, or use the module mpi\n",
      stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
#else
  (void)array;
#endif
}

static ptrdiff_t extent_of(const struct sorrel_descriptor* array, int dimension) {
  return array->dimensions[dimension].upper_bound - array->dimensions[dimension].lower_bound + 1;
}

/* In bytes. */
static ptrdiff_t stride_of(const struct sorrel_descriptor* array, int dimension) {
  return array->dimensions[dimension].stride * array->span;
}

static int is_contiguous(const struct sorrel_descriptor* array) {
  ptrdiff_t expected = (ptrdiff_t)array->element_size;
  for (int i = 0; i < array->rank; ++i) {
    const ptrdiff_t extent = extent_of(array, i);
    if (extent <= 0) return 1;  // nothing, or an assumed-size array
    if (extent > 1 && stride_of(array, i) != expected) return 0;
    expected *= extent;
  }
  return 1;
}

/* Whether gfortran has copied the actual argument: it does so for components (v%x) and substrings
 * of array elements, and for expressions, and frees the copy when the call returns. The lower
 * bounds of such a copy are 0, those of a variable 1. Those of an allocatable or a pointer of
 * assumed rank may be 0, too. */
static int may_be_copy(const struct sorrel_descriptor* array) {
  if (array->rank == 0 || array->offset != 0 || !is_contiguous(array)) return 0;
  for (int i = 0; i < array->rank; ++i) {
    if (array->dimensions[i].lower_bound != 0) return 0;
  }
  return 1;
}

int sorrel_lasts(const struct sorrel_descriptor* array, const char* function) {
  if (!may_be_copy(array)) return MPI_SUCCESS;
  return sorrel_fail(
      MPI_ERR_BUFFER, function,
      "the buffer is a copy that gfortran has made of a component (v%x), a substring "
      "or an expression, and frees when this call returns; or it is an allocatable "
      "or pointer of assumed rank with lower bounds 0. Pass an array or a section");
}

/* Copies the elements of the first `rank` dimensions, whose first is at `section`, in array order.
 * Returns the end of what was read or written in `packed`. */
static char* copy_elements(
    const struct sorrel_descriptor* array, int rank, char* section, char* packed, int is_back) {
  if (rank == 0) {
    memcpy(is_back ? section : packed, is_back ? packed : section, array->element_size);
    return packed + array->element_size;
  }
  const ptrdiff_t extent = extent_of(array, rank - 1);
  for (ptrdiff_t i = 0; i < extent; ++i)
    packed =
        copy_elements(array, rank - 1, section + i * stride_of(array, rank - 1), packed, is_back);
  return packed;
}

void* sorrel_contiguous(const struct sorrel_descriptor* array) {
  check_compiler(array);
  if (is_contiguous(array)) return sorrel_address(array->base);
  MPI_Count elements = 1;
  for (int i = 0; i < array->rank; ++i)
    elements *= extent_of(array, i);
  char* const copy = sorrel_memory(elements, array->element_size);
  copy_elements(array, array->rank, array->base, copy, 0);
  return copy;
}

void sorrel_end_contiguous(const struct sorrel_descriptor* array, void* address, int is_changed) {
  if (is_contiguous(array)) return;
  if (is_changed) copy_elements(array, array->rank, array->base, address, 1);
  free(address);
}

/* The distance of successive elements in array order, or 0 if it is not the same for all. */
static ptrdiff_t uniform_stride(const struct sorrel_descriptor* array) {
  ptrdiff_t stride = 0;
  ptrdiff_t expected = 0;
  for (int i = 0; i < array->rank; ++i) {
    const ptrdiff_t extent = extent_of(array, i);
    if (extent == 1) continue;
    if (stride == 0) {
      stride = stride_of(array, i);
    } else if (stride_of(array, i) != expected) {
      return 0;
    }
    expected = stride_of(array, i) * extent;
  }
  return stride;
}

/* The first n elements of the first `rank` dimensions. Every type made on the way is freed. */
static int make_type(const struct sorrel_descriptor* array,
                     int rank,
                     MPI_Count n,
                     MPI_Datatype element,
                     MPI_Datatype* made) {
  if (rank == 0) return MPI_Type_dup(element, made);
  MPI_Count plane = 1;
  for (int i = 0; i < rank - 1; ++i)
    plane *= extent_of(array, i);
  const MPI_Count full = n / plane;
  const MPI_Count rest = n % plane;
  const MPI_Count stride = stride_of(array, rank - 1);
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  int error = make_type(array, rank - 1, plane, element, &inner);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Type_create_hvector_c(full, 1, stride, inner, &types[0]);
  MPI_Type_free(&inner);
  if (error != MPI_SUCCESS) return error;
  if (rest == 0) {
    *made = types[0];
    return MPI_SUCCESS;
  }
  error = make_type(array, rank - 1, rest, element, &types[1]);
  if (error == MPI_SUCCESS) {
    const MPI_Count lengths[2] = {1, 1};
    const MPI_Count displacements[2] = {0, full * stride};
    error = MPI_Type_create_struct_c(2, lengths, displacements, types, made);
    MPI_Type_free(&types[1]);
  }
  MPI_Type_free(&types[0]);
  return error;
}

/* A section whose elements are not the datatype's: `bytes` of a datatype without gaps, in units of
 * the array's elements. */
static int make_of_units(const struct sorrel_descriptor* array,
                         MPI_Count count,
                         MPI_Datatype datatype,
                         MPI_Count size,
                         const char* function,
                         MPI_Datatype* made) {
  const MPI_Count element_size = (MPI_Count)array->element_size;
  MPI_Count total = 1;
  for (int i = 0; i < array->rank; ++i)
    total *= extent_of(array, i);
  if (size == 0 || element_size == 0 || count * size % element_size != 0 ||
      (size % element_size != 0 && element_size % size != 0))
    return sorrel_fail(MPI_ERR_BUFFER, function,
                       "the datatype does not fit the elements of a noncontiguous array section");
  const MPI_Count n = count * size / element_size;
  if (n > total)
    return sorrel_fail(MPI_ERR_COUNT, function, "count exceeds a noncontiguous array section");
  MPI_Datatype element = MPI_DATATYPE_NULL;
  int error = size <= element_size ? MPI_Type_contiguous_c(element_size / size, datatype, &element)
                                   : MPI_Type_contiguous_c(element_size, MPI_BYTE, &element);
  if (error == MPI_SUCCESS) {
    error = make_type(array, array->rank, n, element, made);
    MPI_Type_free(&element);
  }
  return error;
}

int sorrel_open(struct sorrel_section* section,
                const struct sorrel_descriptor* array,
                MPI_Count count,
                MPI_Datatype datatype,
                const char* function) {
  check_compiler(array);
  section->address = sorrel_address(array->base);
  section->count = count;
  section->datatype = datatype;
  section->made = MPI_DATATYPE_NULL;
  if (count == 0 || datatype == MPI_DATATYPE_NULL) return MPI_SUCCESS;
  if (is_contiguous(array)) return sorrel_lasts(array, function);
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count size = 0;
  int error = MPI_Type_get_extent_c(datatype, &lower, &extent);
  if (error == MPI_SUCCESS) error = MPI_Type_size_c(datatype, &size);
  if (error != MPI_SUCCESS) return error;
  if (lower != 0 || extent != size)
    return sorrel_fail(MPI_ERR_TYPE, function,
                       "a noncontiguous array section needs a datatype without gaps");
  const ptrdiff_t stride = uniform_stride(array);
  if (stride != 0 && extent == (MPI_Count)array->element_size) {
    error = MPI_Type_create_resized_c(datatype, 0, stride, &section->made);
  } else if (count == sorrel_any_count) {
    return sorrel_fail(MPI_ERR_BUFFER, function,
                       "with arrays of counts, an array section must be contiguous, or of one "
                       "dimension and the datatype's size");
  } else {
    error = make_of_units(array, count, datatype, size, function, &section->made);
    section->count = 1;
  }
  if (error == MPI_SUCCESS) error = MPI_Type_commit(&section->made);
  section->datatype = section->made;
  return error;
}

void sorrel_close(struct sorrel_section* section) {
  if (section->made != MPI_DATATYPE_NULL) MPI_Type_free(&section->made);
}

int sorrel_whole(void** address, const struct sorrel_descriptor* array, const char* function) {
  check_compiler(array);
  *address = sorrel_address(array->base);
  if (is_contiguous(array)) return sorrel_lasts(array, function);
  return sorrel_fail(MPI_ERR_BUFFER, function,
                     "this call needs a contiguous array, not an array section");
}
