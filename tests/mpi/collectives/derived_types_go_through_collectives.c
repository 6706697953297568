// Collectives gather data with holes at one side and scatter it at the other: the two sides may use
// different types of the same signature.
#include "../check.h"

enum { height = 6, width = 7 };

static int me, ranks;

/// A column of a height x width matrix, whose extent is one element, so that columns are adjacent.
static MPI_Datatype make_column(void) {
  MPI_Datatype raw, column;
  MPI_Type_vector(height, 1, width, MPI_INT, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  MPI_Type_free(&raw);
  return column;
}

static int value_of(int owner, int row, int column) {
  return owner * 10000 + row * 100 + column;
}

static void fill_matrix(int matrix[height][width], int owner) {
  for (int r = 0; r < height; r++) {
    for (int c = 0; c < width; c++)
      matrix[r][c] = value_of(owner, r, c);
  }
}

static void broadcast_columns(MPI_Datatype column) {
  for (int root = 0; root < ranks; root += ranks > 8 ? ranks - 1 : 1) {
    int matrix[height][width];
    memset(matrix, 0, sizeof matrix);
    if (me == root) fill_matrix(matrix, root);
    // Columns 2 and 3 at the root are rows at the other ranks: the same signature.
    int rows[2][height];
    if (me == root) {
      MPI_Bcast(&matrix[0][2], 2, column, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(rows, 2 * height, MPI_INT, root, MPI_COMM_WORLD);
      for (int c = 0; c < 2; c++) {
        for (int r = 0; r < height; r++)
          CHECK_EQUAL(rows[c][r], value_of(root, r, c + 2));
      }
    }
    // And the other way around.
    if (me == root) {
      for (int c = 0; c < 2; c++) {
        for (int r = 0; r < height; r++)
          rows[c][r] = value_of(root, r, c + 50);
      }
      MPI_Bcast(rows, 2 * height, MPI_INT, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(&matrix[0][4], 2, column, root, MPI_COMM_WORLD);
      for (int r = 0; r < height; r++) {
        for (int c = 0; c < width; c++)
          CHECK_EQUAL(matrix[r][c], c == 4 || c == 5 ? value_of(root, r, c - 4 + 50) : 0);
      }
    }
  }
}

/// The first column of every rank becomes column r of a wide matrix.
static void gather_columns(MPI_Datatype column) {
  int matrix[height][width];
  fill_matrix(matrix, me);
  int* wide = calloc((size_t)(height * ranks), sizeof *wide);
  MPI_Datatype raw, wide_column;
  MPI_Type_vector(height, 1, ranks, MPI_INT, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(int), &wide_column);
  MPI_Type_commit(&wide_column);
  for (int way = 0; way < 3; way++) {
    memset(wide, 0, (size_t)(height * ranks) * sizeof *wide);
    if (way == 0) MPI_Allgather(&matrix[0][1], 1, column, wide, 1, wide_column, MPI_COMM_WORLD);
    if (way == 1)
      MPI_Gather(&matrix[0][1], 1, column, wide, 1, wide_column, ranks - 1, MPI_COMM_WORLD);
    if (way == 2) {
      int* counts = malloc((size_t)ranks * sizeof *counts);
      int* places = malloc((size_t)ranks * sizeof *places);
      for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        places[i] = i;
      }
      MPI_Allgatherv(&matrix[0][1], 1, column, wide, counts, places, wide_column, MPI_COMM_WORLD);
      free(counts);
      free(places);
    }
    if (way == 1 && me != ranks - 1) continue;
    for (int from = 0; from < ranks; from++) {
      for (int r = 0; r < height; r++)
        CHECK_EQUAL(wide[r * ranks + from], value_of(from, r, 1));
    }
  }
  // And back: column r of the root's wide matrix to rank r.
  for (int i = 0; i < height * ranks && me == 0; i++)
    wide[i] = i;
  memset(matrix, 0, sizeof matrix);
  MPI_Scatter(wide, 1, wide_column, &matrix[0][3], 1, column, 0, MPI_COMM_WORLD);
  for (int r = 0; r < height; r++)
    CHECK_EQUAL(matrix[r][3], r * ranks + me);
  MPI_Type_free(&raw);
  MPI_Type_free(&wide_column);
  free(wide);
}

/// A distributed transpose: row i of rank r becomes column r of rank i.
static void transpose(void) {
  const int n = ranks;
  int* row = malloc((size_t)n * sizeof *row);
  double* got = calloc((size_t)n * 2, sizeof *got);
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(double), &spaced);
  MPI_Type_commit(&spaced);
  for (int i = 0; i < n; i++)
    row[i] = me * n + i;
  MPI_Alltoall(row, 1, MPI_INT, got, 1, spaced, MPI_COMM_WORLD);
  for (int from = 0; from < n; from++) {
    int value;
    memcpy(&value, &got[2 * from], sizeof value);
    CHECK_EQUAL(value, from * n + me);
    CHECK(got[2 * from + 1] == 0.0);
  }
  MPI_Type_free(&spaced);
  free(row);
  free(got);
}

/// MPI_Alltoallw with another type for every rank: even ranks exchange columns, odd ones plain
/// integers.
static void types_for_each_rank(MPI_Datatype column) {
  const size_t n = (size_t)ranks;
  int(*out)[height][width] = malloc(n * sizeof *out);
  int(*in)[height][width] = calloc(n, sizeof *in);
  int* counts = malloc(n * sizeof *counts);
  int* places = malloc(n * sizeof *places);
  MPI_Datatype* send_types = malloc(n * sizeof(MPI_Datatype));
  MPI_Datatype* receive_types = malloc(n * sizeof(MPI_Datatype));
  for (int i = 0; i < ranks; i++) {
    fill_matrix(out[i], me * ranks + i);
    counts[i] = (me + i) % 2 == 0 ? 1 : height;
    places[i] = i * (int)sizeof *out;
    send_types[i] = receive_types[i] = (me + i) % 2 == 0 ? column : MPI_INT;
  }
  MPI_Alltoallw(out, counts, places, send_types, in, counts, places, receive_types, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; from++) {
    for (int i = 0; i < height; i++) {
      if ((me + from) % 2 == 0) {
        CHECK_EQUAL(in[from][i][0], value_of(from * ranks + me, i, 0));
      } else {
        CHECK_EQUAL(in[from][0][i], value_of(from * ranks + me, 0, i));
      }
    }
  }
  free(out);
  free(in);
  free(counts);
  free(places);
  free(send_types);
  free(receive_types);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Datatype column = make_column();
  broadcast_columns(column);
  gather_columns(column);
  transpose();
  types_for_each_rank(column);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
