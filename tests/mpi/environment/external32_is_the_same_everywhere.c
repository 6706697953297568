// The external32 representation: bytes, sizes and conversions of the standard's table, derived
// types, and what is read back.
#include <float.h>
#include <stddef.h>

#include "../check.h"

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static const char* const form = "external32";

static void check_bytes(
    const void* data, int count, MPI_Datatype type, const unsigned char* expected, int size) {
  unsigned char packed[64], back[64];
  MPI_Aint position = 0, bytes = -1;
  int native;
  MPI_Pack_external_size(form, count, type, &bytes);
  CHECK_EQUAL(bytes, size);
  MPI_Pack_external(form, data, count, type, packed, sizeof packed, &position);
  CHECK_EQUAL(position, size);
  for (int i = 0; i < size; i++)
    CHECK_EQUAL(packed[i], expected[i]);
  position = 0;
  memset(back, 0, sizeof back);
  MPI_Unpack_external(form, packed, size, &position, back, count, type);
  CHECK_EQUAL(position, size);
  MPI_Type_size(type, &native);
  CHECK_EQUAL(memcmp(back, data, (size_t)(native * count)), 0);
}

static void basic_types(void) {
  const int ints[2] = {1, -2};
  check_bytes(ints, 2, MPI_INT, (const unsigned char[]){0, 0, 0, 1, 255, 255, 255, 254}, 8);
  const short number = 0x1234;
  check_bytes(&number, 1, MPI_SHORT, (const unsigned char[]){0x12, 0x34}, 2);
  // MPI_LONG has 4 bytes outside, MPI_LONG_LONG 8.
  const long longs[2] = {-3, 5};
  check_bytes(longs, 2, MPI_LONG, (const unsigned char[]){255, 255, 255, 253, 0, 0, 0, 5}, 8);
  const unsigned long large = 0xfedcba98;
  check_bytes(&large, 1, MPI_UNSIGNED_LONG, (const unsigned char[]){0xfe, 0xdc, 0xba, 0x98}, 4);
  const long long seven = 7;
  check_bytes(&seven, 1, MPI_LONG_LONG, (const unsigned char[]){0, 0, 0, 0, 0, 0, 0, 7}, 8);
  const double half[1] = {0.5};
  check_bytes(half, 1, MPI_DOUBLE, (const unsigned char[]){0x3f, 0xe0, 0, 0, 0, 0, 0, 0}, 8);
  const float pair[2] = {1, -2};
  check_bytes(pair, 1, MPI_COMPLEX, (const unsigned char[]){0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}, 8);
  check_bytes("ab", 2, MPI_CHAR, (const unsigned char*)"ab", 2);
  // 128 bits: sign and exponent of 1, then zeros.
  const long double one = 1;
  unsigned char packed[16];
  MPI_Aint position = 0;
  MPI_Pack_external(form, &one, 1, MPI_LONG_DOUBLE, packed, sizeof packed, &position);
  CHECK_EQUAL(position, 16);
  CHECK_EQUAL(packed[0], 0x3f);
  CHECK_EQUAL(packed[1], 0xff);
  for (int i = 2; i < 16; i++)
    CHECK_EQUAL(packed[i], 0);
  long double back = 0;
  position = 0;
  MPI_Unpack_external(form, packed, 16, &position, &back, 1, MPI_LONG_DOUBLE);
  CHECK(back == one);
}

#ifdef SORREL_MPI_H
/* The bytes of a long double behind its value, which the format of 80 bits has not, are 0. */
static void padding(MPI_Datatype type, int count, const void* data) {
  enum { value_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

  unsigned char packed[48], back[48];
  MPI_Aint end = 0, position = 0;
  memset(back, 0x55, sizeof back);
  MPI_Pack_external(form, data, 1, type, packed, sizeof packed, &end);
  MPI_Unpack_external(form, packed, end, &position, back, 1, type);
  for (int i = 0; i < count; i++)
    for (unsigned k = value_bytes; k < sizeof(long double); k++)
      CHECK_EQUAL(back[(unsigned)i * sizeof(long double) + k], 0);
}

static void long_doubles(void) {
  struct pair {
    long double value;
    int index;
  };

  const long double numbers[2] = {1.5L, -2};
  const struct pair pair = {3, 4};
  padding(MPI_LONG_DOUBLE, 1, numbers);
  padding(MPI_C_LONG_DOUBLE_COMPLEX, 2, numbers);
  padding(MPI_LONG_DOUBLE_INT, 1, &pair);
}
#else
static void long_doubles(void) {}
#endif

static void derived_types(void) {
  struct record {
    char letter;
    long number;
    float values[2];
  };

  const int lengths[3] = {1, 1, 2};
  const MPI_Aint places[3] = {offsetof(struct record, letter), offsetof(struct record, number),
                              offsetof(struct record, values)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_LONG, MPI_FLOAT};
  MPI_Datatype type, resized, every_other;
  MPI_Type_create_struct(3, lengths, places, types, &type);
  MPI_Type_create_resized(type, 0, sizeof(struct record), &resized);
  MPI_Type_vector(2, 1, 2, resized, &every_other);
  MPI_Type_commit(&every_other);
  struct record records[3], back[3];
  memset(records, 0, sizeof records);
  memset(back, 0, sizeof back);
  for (int i = 0; i < 3; i++)
    records[i] = (struct record){(char)('a' + i), -1 - i, {1, (float)i}};
  MPI_Aint size, position = 0;
  unsigned char packed[64];
  MPI_Pack_external_size(form, 1, every_other, &size);
  CHECK_EQUAL(size, 2 * (1 + 4 + 8));
  MPI_Pack_external(form, records, 1, every_other, packed, sizeof packed, &position);
  CHECK_EQUAL(position, size);
  CHECK_EQUAL(packed[0], 'a');
  CHECK_EQUAL(packed[4], 255);
  CHECK_EQUAL(packed[13], 'c');
  CHECK_EQUAL(packed[17], 253);
  position = 0;
  MPI_Unpack_external(form, packed, size, &position, back, 1, every_other);
  CHECK_EQUAL(back[0].number, -1);
  CHECK_EQUAL(back[1].number, 0);
  CHECK_EQUAL(back[2].number, -3);
  CHECK(back[2].values[1] == 2);
  // The large-count form does the same, behind what is there.
  MPI_Count at = 5;
  MPI_Pack_external_c(form, records, 1, every_other, packed, sizeof packed, &at);
  CHECK_EQUAL(at, 5 + size);
  CHECK_EQUAL(packed[5], 'a');
  MPI_Type_free(&type);
  MPI_Type_free(&resized);
  MPI_Type_free(&every_other);
}

static void errors(void) {
  int value = 1;
  const long too_large = 1L << 40;
  unsigned char packed[16];
  MPI_Aint position = 0, size;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPI_Pack_external("native", &value, 1, MPI_INT, packed, 16, &position),
          MPI_ERR_UNSUPPORTED_DATAREP);
  REFUSED(MPI_Pack_external(NULL, &value, 1, MPI_INT, packed, 16, &position), MPI_ERR_ARG);
  REFUSED(MPI_Pack_external(form, &value, -1, MPI_INT, packed, 16, &position), MPI_ERR_COUNT);
  REFUSED(MPI_Pack_external(form, &value, 1, MPI_INT, packed, 3, &position), MPI_ERR_TRUNCATE);
  REFUSED(MPI_Pack_external(form, &too_large, 1, MPI_LONG, packed, 16, &position),
          MPI_ERR_CONVERSION);
  REFUSED(MPI_Unpack_external(form, packed, 3, &position, &value, 1, MPI_INT), MPI_ERR_TRUNCATE);
  REFUSED(MPI_Pack_external_size(form, -1, MPI_INT, &size), MPI_ERR_COUNT);
  CHECK_EQUAL(position, 0);
  position = -1;
  REFUSED(MPI_Unpack_external(form, packed, 16, &position, &value, 1, MPI_INT), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  basic_types();
  long_doubles();
  derived_types();
  errors();
  MPI_Finalize();
  return 0;
}
