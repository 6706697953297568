// Data with holes is packed at the sender and unpacked at the receiver, for any two layouts,
// whether the message is short enough for the mailbox or sent by reference, expected or unexpected.
#include <stddef.h>

#include "../check.h"

enum { rows = 40, columns = 30, layout_count = 6 };

typedef struct {
  char letter;
  double number;
  int pair[2];
} Particle;

static int me, partner;

/// Layouts of a matrix of int: each selects some elements of it.
static MPI_Datatype make_layout(int which) {
  MPI_Datatype type, column, narrow;
  if (which == 0) MPI_Type_contiguous(12, MPI_INT, &type);
  if (which == 1) MPI_Type_vector(12, 1, columns, MPI_INT, &type);
  if (which == 2) {
    const int lengths[4] = {1, 5, 2, 4}, places[4] = {900, 3, 100, 45};
    MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
  }
  if (which == 3) {
    const int full[2] = {rows, columns}, part[2] = {4, 3}, start[2] = {7, 11};
    MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_INT, &type);
  }
  if (which == 4) {
    MPI_Type_vector(4, 1, columns, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_contiguous(3, narrow, &type);
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
  }
  if (which == 5) {
    const MPI_Aint places[3] = {4000, 16, 400};
    MPI_Type_create_hindexed_block(3, 4, places, MPI_INT, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

/// Indices of the matrix that a layout selects, in its order.
static void list_layout(MPI_Datatype type, int places[12]) {
  // The numbers in a packed copy of a counting matrix are the positions.
  static int counting[rows * columns];
  for (int i = 0; i < rows * columns; i++)
    counting[i] = i;
  int position = 0;
  MPI_Pack(counting, 1, type, places, 12 * sizeof(int), &position, MPI_COMM_WORLD);
  CHECK_EQUAL(position, 12 * sizeof(int));
}

/// `count` of the sender's layout, each at its own matrix.
static void exchange(int sender_layout, int receiver_layout, int count, int is_expected) {
  MPI_Datatype send_type = make_layout(sender_layout), receive_type = make_layout(receiver_layout);
  MPI_Datatype send_matrix, receive_matrix;
  int from_places[12], to_places[12];
  list_layout(send_type, from_places);
  list_layout(receive_type, to_places);
  MPI_Type_create_resized(send_type, 0, rows * columns * sizeof(int), &send_matrix);
  MPI_Type_create_resized(receive_type, 0, rows * columns * sizeof(int), &receive_matrix);
  MPI_Type_commit(&send_matrix);
  MPI_Type_commit(&receive_matrix);
  const int total = count * rows * columns;
  int* out = malloc((size_t)total * sizeof *out);
  int* in = malloc((size_t)total * sizeof *in);
  for (int i = 0; i < total; i++) {
    out[i] = me * 100000 + i;
    in[i] = -1;
  }
  MPI_Request requests[2];
  if (is_expected) MPI_Irecv(in, count, receive_matrix, partner, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(out, count, send_matrix, partner, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!is_expected) MPI_Irecv(in, count, receive_matrix, partner, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Status statuses[2];
  MPI_Waitall(2, requests, statuses);
  int elements;
  MPI_Get_elements(&statuses[0], receive_matrix, &elements);
  CHECK_EQUAL(elements, 12 * count);
  for (int c = 0; c < count; c++) {
    for (int i = 0; i < 12; i++) {
      int* target = &in[c * rows * columns + to_places[i]];
      CHECK_EQUAL(*target, partner * 100000 + c * rows * columns + from_places[i]);
      *target = -1;
    }
  }
  for (int i = 0; i < total; i++)
    CHECK_EQUAL(in[i], -1);
  free(in);
  free(out);
  MPI_Type_free(&send_type);
  MPI_Type_free(&receive_type);
  MPI_Type_free(&send_matrix);
  MPI_Type_free(&receive_matrix);
}

static void structures_with_padding(int count) {
  MPI_Datatype raw, type;
  const int lengths[3] = {1, 1, 2};
  const MPI_Aint places[3] = {offsetof(Particle, letter), offsetof(Particle, number),
                              offsetof(Particle, pair)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, places, types, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(Particle), &type);
  MPI_Type_commit(&type);
  Particle* out = calloc((size_t)count, sizeof *out);
  Particle* in = calloc((size_t)count, sizeof *in);
  for (int i = 0; i < count; i++)
    out[i] = (Particle){(char)(i % 100), me + 0.25 * i, {i, me}};
  MPI_Sendrecv(out, count, type, partner, 0, in, count, type, partner, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++) {
    CHECK_EQUAL(in[i].letter, i % 100);
    CHECK(in[i].number == partner + 0.25 * i);
    CHECK(in[i].pair[0] == i && in[i].pair[1] == partner);
  }
  MPI_Sendrecv_replace(out, count, type, partner, 1, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(memcmp(out, in, (size_t)count * sizeof *in), 0);
  free(in);
  free(out);
  MPI_Type_free(&raw);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  // 48 bytes are sent inline, 960 by reference or as a copy, 19200 by reference only.
  static const int counts[] = {1, 20, 400};
  const int count_max = size_of(MPI_COMM_WORLD) > 16 ? 2 : 3;
  for (int c = 0; c < count_max; c++) {
    for (int from = 0; from < layout_count; from++) {
      for (int to = 0; to < layout_count; to++)
        exchange(from, to, counts[c], (from + to) % 2);
    }
  }
  structures_with_padding(1);
  structures_with_padding(30);
  structures_with_padding(3000);
  MPI_Finalize();
  return 0;
}
