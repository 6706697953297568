// Datatypes of distributed arrays, compared with the standard's rule element by element; and the
// datatypes of Fortran's kinds.
#include "../check.h"

enum { dims_max = 3, elements_max = 4000 };

struct shape {
  int dims;
  int sizes[dims_max], distributions[dims_max], arguments[dims_max], grid[dims_max];
  int order;
};

/// The coordinate in the process grid that owns index `i` of dimension `d`.
static int owner_of(const struct shape* shape, int d, int i) {
  int block = shape->arguments[d];
  if (shape->distributions[d] == MPI_DISTRIBUTE_NONE) return 0;
  if (block == MPI_DISTRIBUTE_DFLT_DARG)
    block = shape->distributions[d] == MPI_DISTRIBUTE_CYCLIC
                ? 1
                : (shape->sizes[d] + shape->grid[d] - 1) / shape->grid[d];
  return i / block % shape->grid[d];
}

/// The rank that owns the element at this offset.
static int rank_of_element(const struct shape* shape, int offset) {
  int indices[dims_max], rank = 0;
  for (int k = 0; k < shape->dims; k++) {
    const int d = shape->order == MPI_ORDER_C ? shape->dims - 1 - k : k;
    indices[d] = offset % shape->sizes[d];
    offset /= shape->sizes[d];
  }
  for (int d = 0; d < shape->dims; d++)
    rank = rank * shape->grid[d] + owner_of(shape, d, indices[d]);
  return rank;
}

static void check_shape(const struct shape* shape, int is_large) {
  static int array[elements_max], packed[elements_max];
  int size = 1, elements = 1;
  for (int d = 0; d < shape->dims; d++) {
    size *= shape->grid[d];
    elements *= shape->sizes[d];
  }
  CHECK(elements <= elements_max);
  for (int i = 0; i < elements; i++)
    array[i] = i;
  int covered = 0;
  for (int rank = 0; rank < size; rank++) {
    MPI_Datatype type;
    MPI_Aint lb, extent;
    int bytes, position = 0, next = 0;
    if (is_large) {
      MPI_Count sizes[dims_max];
      for (int d = 0; d < shape->dims; d++)
        sizes[d] = shape->sizes[d];
      MPI_Type_create_darray_c(size, rank, shape->dims, sizes, shape->distributions,
                               shape->arguments, shape->grid, shape->order, MPI_INT, &type);
    } else {
      MPI_Type_create_darray(size, rank, shape->dims, shape->sizes, shape->distributions,
                             shape->arguments, shape->grid, shape->order, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQUAL(lb, 0);
    CHECK_EQUAL(extent, elements * (int)sizeof(int));
    MPI_Type_size(type, &bytes);
    MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    CHECK_EQUAL(position, bytes);
    for (int i = 0; i < elements; i++) {
      if (rank_of_element(shape, i) != rank) continue;
      CHECK_EQUAL(packed[next], i);
      next++;
    }
    CHECK_EQUAL(next * (int)sizeof(int), bytes);
    covered += next;
    MPI_Type_free(&type);
  }
  CHECK_EQUAL(covered, elements);
}

static void darrays(void) {
  enum { block = MPI_DISTRIBUTE_BLOCK, cyclic = MPI_DISTRIBUTE_CYCLIC, none = MPI_DISTRIBUTE_NONE };

  const int dflt = MPI_DISTRIBUTE_DFLT_DARG;
  struct shape shapes[] = {
      {1, {10}, {block}, {dflt}, {4}, 0},
      {1, {10}, {block}, {5}, {3}, 0},
      {1, {10}, {cyclic}, {dflt}, {3}, 0},
      {1, {11}, {cyclic}, {2}, {3}, 0},
      {1, {2}, {block}, {dflt}, {5}, 0},
      {2, {6, 7}, {block, cyclic}, {dflt, 2}, {2, 3}, 0},
      {2, {5, 8}, {none, block}, {dflt, dflt}, {1, 4}, 0},
      {3, {5, 4, 7}, {cyclic, none, block}, {2, dflt, 4}, {2, 1, 2}, 0},
      {3, {12, 10, 8}, {cyclic, cyclic, cyclic}, {3, 1, 2}, {2, 2, 3}, 0},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (int k = 0; k < 4; k++) {
      shapes[i].order = k % 2 == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
      check_shape(&shapes[i], k / 2);
    }
  }
}

static void decoding(void) {
  const int sizes[2] = {6, 7}, distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 3};
  int counts[3], combiner, integers[20];
  MPI_Aint addresses[1];
  MPI_Datatype type, types[1];
  MPI_Type_create_darray(6, 4, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_DOUBLE,
                         &type);
  MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_DARRAY);
  CHECK_EQUAL(counts[0], 12);
  CHECK_EQUAL(counts[1], 0);
  CHECK_EQUAL(counts[2], 1);
  MPI_Type_get_contents(type, 12, 0, 1, integers, addresses, types);
  const int expected[12] = {
      6, 4, 2, 6, 7, distributions[0], distributions[1], arguments[0], 2, 2, 3, MPI_ORDER_C};
  for (int i = 0; i < 12; i++)
    CHECK_EQUAL(integers[i], expected[i]);
  CHECK(types[0] == MPI_DOUBLE);
  MPI_Type_free(&type);
}

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void kinds(void) {
  MPI_Datatype real, again, complex, integer;
  int size, counts[3], combiner, integers[2];
  MPI_Aint addresses[1];
  MPI_Datatype types[1];
  MPI_Type_create_f90_real(10, 100, &real);
  MPI_Type_create_f90_real(10, 100, &again);
  CHECK(real == again);
  MPI_Type_size(real, &size);
  CHECK_EQUAL(size, 8);
  MPI_Type_get_envelope(real, &counts[0], &counts[1], &counts[2], &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_F90_REAL);
  CHECK_EQUAL(counts[0], 2);
  CHECK_EQUAL(counts[2], 0);
  MPI_Type_get_contents(real, 2, 0, 0, integers, addresses, types);
  CHECK_EQUAL(integers[0], 10);
  CHECK_EQUAL(integers[1], 100);
  double value = 1.5, sum = 0;
  MPI_Allreduce(&value, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == 1.5 * size_of(MPI_COMM_WORLD));
  MPI_Type_create_f90_real(MPI_UNDEFINED, 30, &again);
  MPI_Type_size(again, &size);
  CHECK_EQUAL(size, 4);
  MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex);
  MPI_Type_size(complex, &size);
  CHECK_EQUAL(size, 8);
  MPI_Type_create_f90_integer(12, &integer);
  MPI_Type_size(integer, &size);
  CHECK_EQUAL(size, 8);
  MPI_Type_get_envelope(integer, &counts[0], &counts[1], &counts[2], &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_F90_INTEGER);
  CHECK_EQUAL(counts[0], 1);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPI_Type_free(&real), MPI_ERR_TYPE);
  REFUSED(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &again), MPI_ERR_ARG);
  REFUSED(MPI_Type_create_f90_real(50, 10, &again), MPI_ERR_ARG);
  REFUSED(MPI_Type_create_f90_integer(99, &again), MPI_ERR_ARG);
}

static void errors(void) {
  const int ten[1] = {10}, zero[1] = {0}, one[1] = {1}, two[1] = {2};
  const int block[1] = {MPI_DISTRIBUTE_BLOCK}, none[1] = {MPI_DISTRIBUTE_NONE};
  const int dflt[1] = {MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type;
#define DARRAY(size, rank, n, sizes, how, args, grid, order) \
  MPI_Type_create_darray(size, rank, n, sizes, how, args, grid, order, MPI_INT, &type)
  REFUSED(DARRAY(0, 0, 1, ten, block, dflt, one, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 2, 1, ten, block, dflt, two, MPI_ORDER_C), MPI_ERR_RANK);
  REFUSED(DARRAY(2, 0, 0, ten, block, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, block, dflt, one, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(1, 0, 1, ten, block, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, zero, block, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, none, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, block, two, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, block, zero, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, one, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, ten, block, dflt, two, 7), MPI_ERR_ARG);
  REFUSED(DARRAY(2, 0, 1, NULL, block, dflt, two, MPI_ORDER_C), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  darrays();
  decoding();
  kinds();
  errors();
  MPI_Finalize();
  return 0;
}
