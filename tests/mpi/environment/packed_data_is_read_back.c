// MPI_Unpack reads what MPI_Pack writes, piece by piece and type by type; packed data is sent as
// MPI_PACKED and may be received with the types themselves.
#include "../check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD);
  const int partner = size_of(MPI_COMM_WORLD) - 1 - me;
  double matrix[4][5];
  int numbers[3] = {me, me + 1, me + 2};
  char letter = (char)('a' + me % 26);
  for (int i = 0; i < 20; i++)
    matrix[i / 5][i % 5] = me * 100 + i;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  int parts[3], position = 0;
  MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &parts[0]);
  MPI_Pack_size(1, column, MPI_COMM_WORLD, &parts[1]);
  MPI_Pack_size(1, MPI_CHAR, MPI_COMM_WORLD, &parts[2]);
  const int room = parts[0] + parts[1] + parts[2];
  char* out = malloc((size_t)room);
  char* in = malloc((size_t)room);
  MPI_Pack(numbers, 3, MPI_INT, out, room, &position, MPI_COMM_WORLD);
  MPI_Pack(&matrix[0][2], 1, column, out, room, &position, MPI_COMM_WORLD);
  MPI_Pack(&letter, 1, MPI_CHAR, out, room, &position, MPI_COMM_WORLD);
  CHECK(position <= room);

  MPI_Status status;
  int received, read = 0, got_numbers[3];
  double got_column[4];
  char got_letter;
  MPI_Sendrecv(out, position, MPI_PACKED, partner, 0, in, room, MPI_PACKED, partner, 0,
               MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_PACKED, &received);
  CHECK_EQUAL(received, position);
  MPI_Unpack(in, received, &read, got_numbers, 3, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(in, received, &read, got_column, 4, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Unpack(in, received, &read, &got_letter, 1, MPI_CHAR, MPI_COMM_WORLD);
  CHECK_EQUAL(read, received);
  for (int i = 0; i < 3; i++)
    CHECK_EQUAL(got_numbers[i], partner + i);
  for (int i = 0; i < 4; i++)
    CHECK(got_column[i] == partner * 100 + 5 * i + 2);
  CHECK_EQUAL(got_letter, 'a' + partner % 26);

  // Packed here, received as integers there.
  position = 0;
  MPI_Pack(numbers, 3, MPI_INT, out, room, &position, MPI_COMM_WORLD);
  MPI_Sendrecv(out, position, MPI_PACKED, partner, 1, got_numbers, 3, MPI_INT, partner, 1,
               MPI_COMM_WORLD, &status);
  CHECK_EQUAL(got_numbers[2], partner + 2);

  // Too little room is an error.
  int error_class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  position = 0;
  MPI_Error_class(MPI_Pack(numbers, 3, MPI_INT, out, 8, &position, MPI_COMM_WORLD), &error_class);
  CHECK(error_class != MPI_SUCCESS);
  read = 0;
  MPI_Error_class(MPI_Unpack(in, 8, &read, got_numbers, 3, MPI_INT, MPI_COMM_WORLD), &error_class);
  CHECK(error_class != MPI_SUCCESS);
  MPI_Type_free(&column);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
