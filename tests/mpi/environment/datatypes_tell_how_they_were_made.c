// MPI_Type_get_envelope and MPI_Type_get_contents return the arguments of a constructor, in the
// standard's order, also after the old datatypes have been freed.
#include "../check.h"

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void check_envelope(MPI_Datatype type, int integers, int addresses, int types, int maker) {
  int counts[3], combiner;
  MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
  CHECK_EQUAL(counts[0], integers);
  CHECK_EQUAL(counts[1], addresses);
  CHECK_EQUAL(counts[2], types);
  CHECK_EQUAL(combiner, maker);
}

// A type of Fortran that has a size is one that the library says to support.
static void check_supported(const char* key, MPI_Datatype type, int expected) {
  MPI_Info info;
  char value[8];
  int size = sizeof value, flag = 0, bytes;
  MPI_Abi_get_fortran_info(&info);
  MPI_Info_get_string(info, key, &size, value, &flag);
  CHECK(flag && strcmp(value, "true") == 0);
  MPI_Info_free(&info);
  MPI_Type_size(type, &bytes);
  CHECK_EQUAL(bytes, expected);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int integers[16];
  MPI_Aint addresses[16];
  MPI_Datatype types[16], vector, structure, large;

  check_supported("mpi_real2_supported", MPI_REAL2, 2);
  check_supported("mpi_complex4_supported", MPI_COMPLEX4, 4);
  check_supported("mpi_real16_supported", MPI_REAL16, 16);
  check_envelope(MPI_INT, 0, 0, 0, MPI_COMBINER_NAMED);
  // The standard lists one of two names; the other is its synonym.
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length);
  CHECK(strcmp(name, "MPI_C_COMPLEX") == 0);
  CHECK_EQUAL(class_of(MPI_Type_get_contents(MPI_INT, 0, 0, 0, integers, addresses, types)),
              MPI_ERR_TYPE);

  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
  check_envelope(vector, 3, 0, 1, MPI_COMBINER_VECTOR);
  MPI_Type_get_contents(vector, 3, 0, 1, integers, addresses, types);
  CHECK_EQUAL(integers[0], 3);
  CHECK_EQUAL(integers[1], 2);
  CHECK_EQUAL(integers[2], 5);
  CHECK(types[0] == MPI_DOUBLE);

  const int lengths[2] = {1, 4};
  const MPI_Aint places[2] = {8, 160};
  const MPI_Datatype members[2] = {vector, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, places, members, &structure);
  MPI_Type_free(&vector);
  check_envelope(structure, 3, 2, 2, MPI_COMBINER_STRUCT);
  CHECK_EQUAL(class_of(MPI_Type_get_contents(structure, 3, 1, 2, integers, addresses, types)),
              MPI_ERR_ARG);
  MPI_Type_get_contents(structure, 3, 2, 2, integers, addresses, types);
  CHECK_EQUAL(integers[0], 2);
  CHECK_EQUAL(integers[2], 4);
  CHECK_EQUAL(addresses[1], 160);
  CHECK(types[1] == MPI_CHAR);
  // The caller owns the derived member now.
  check_envelope(types[0], 3, 0, 1, MPI_COMBINER_VECTOR);
  MPI_Type_free(&types[0]);

  MPI_Count sizes[4], wide[16];
  int combiner;
  MPI_Type_create_resized_c(MPI_INT, -4, (MPI_Count)1 << 33, &large);
  MPI_Type_get_envelope_c(large, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_RESIZED);
  CHECK_EQUAL(sizes[2], 2);
  MPI_Type_get_contents_c(large, 0, 0, 2, 1, integers, addresses, wide, types);
  CHECK_EQUAL(wide[0], -4);
  CHECK_EQUAL(wide[1], (MPI_Count)1 << 33);
  CHECK_EQUAL(class_of(MPI_Type_get_contents(large, 0, 0, 1, integers, addresses, types)),
              MPI_ERR_TYPE);

  MPI_Datatype pair;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  CHECK(pair == MPI_DOUBLE_INT);
  MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &pair);
  CHECK(pair == MPI_DATATYPE_NULL);
  MPI_Type_free(&large);
  MPI_Type_free(&structure);
  MPI_Finalize();
  return 0;
}
