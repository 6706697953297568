// Groups are ordered sets of ranks; Cartesian communicators compute coordinates, neighbours and
// sub-grids, and carry messages between them.
#include "../check.h"

static int me, ranks;

static void group_algebra(void) {
  MPI_Group world, low, high, both, none, rest, copy;
  int result, size, rank;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int low_range[1][3] = {{0, ranks / 2, 1}};
  int high_range[1][3] = {{ranks - 1, ranks / 2, -1}};
  MPI_Group_range_incl(world, 1, low_range, &low);
  MPI_Group_range_incl(world, 1, high_range, &high);
  MPI_Group_union(low, high, &both);
  MPI_Group_size(both, &size);
  CHECK_EQUAL(size, ranks);
  MPI_Group_compare(both, world, &result);
  CHECK_EQUAL(result, ranks - ranks / 2 > 2 ? MPI_SIMILAR : MPI_IDENT);
  MPI_Group_intersection(low, high, &none);
  MPI_Group_size(none, &size);
  CHECK_EQUAL(size, 1);
  MPI_Group_difference(world, low, &rest);
  MPI_Group_size(rest, &size);
  CHECK_EQUAL(size, ranks - ranks / 2 - 1);
  MPI_Group_rank(high, &rank);
  CHECK_EQUAL(rank, me >= ranks / 2 ? ranks - 1 - me : MPI_UNDEFINED);
  const int asked[2] = {0, ranks - 1};
  int answers[2];
  MPI_Group_translate_ranks(world, 2, asked, high, answers);
  CHECK_EQUAL(answers[0], ranks / 2 == 0 ? ranks - 1 : MPI_UNDEFINED);
  CHECK_EQUAL(answers[1], 0);
  MPI_Group_excl(world, 1, asked, &copy);
  MPI_Group_size(copy, &size);
  CHECK_EQUAL(size, ranks - 1);

  MPI_Group_compare(copy, MPI_GROUP_EMPTY, &result);
  CHECK_EQUAL(result == MPI_IDENT, ranks == 1);
  MPI_Group* all[] = {&world, &low, &high, &both, &none, &rest, &copy};
  for (int i = 0; i < 7; i++)
    if (*all[i] != MPI_GROUP_EMPTY) MPI_Group_free(all[i]);
}

static void grids(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], got_dims[2], got_periods[2], got_coords[2];
  int status, dimensions, rank;
  MPI_Comm grid, rows;
  MPI_Dims_create(ranks, 2, dims);
  CHECK_EQUAL(dims[0] * dims[1], ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Topo_test(grid, &status);
  CHECK_EQUAL(status, MPI_CART);
  MPI_Topo_test(MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status, MPI_UNDEFINED);
  MPI_Cartdim_get(grid, &dimensions);
  CHECK_EQUAL(dimensions, 2);
  const int own = rank_in(grid);
  MPI_Cart_coords(grid, own, 2, coords);
  MPI_Cart_rank(grid, coords, &rank);
  CHECK_EQUAL(rank, own);
  CHECK_EQUAL(own, coords[0] * dims[1] + coords[1]);
  MPI_Cart_get(grid, 2, got_dims, got_periods, got_coords);
  CHECK(got_dims[0] == dims[0] && got_dims[1] == dims[1]);
  CHECK(got_periods[0] == 1 && got_periods[1] == 0);
  CHECK(got_coords[0] == coords[0] && got_coords[1] == coords[1]);
  // Neighbours by message: along the ring there is always one, along the line not at its ends.
  for (int direction = 0; direction < 2; direction++) {
    int source, destination, value = -1;
    MPI_Cart_shift(grid, direction, 1, &source, &destination);
    MPI_Sendrecv(&own, 1, MPI_INT, destination, 0, &value, 1, MPI_INT, source, 0, grid,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, source == MPI_PROC_NULL ? -1 : source);
    CHECK_EQUAL(source == MPI_PROC_NULL, direction == 1 && coords[1] == 0);
  }
  const int keep[2] = {0, 1};
  MPI_Cart_sub(grid, keep, &rows);
  CHECK_EQUAL(size_of(rows), dims[1]);
  CHECK_EQUAL(rank_in(rows), coords[1]);
  int sum = 0;
  MPI_Allreduce(&coords[0], &sum, 1, MPI_INT, MPI_SUM, rows);
  CHECK_EQUAL(sum, coords[0] * dims[1]);
  MPI_Comm_free(&rows);
  MPI_Comm copy;
  MPI_Comm_dup(grid, &copy);
  MPI_Topo_test(copy, &status);
  CHECK_EQUAL(status, MPI_CART);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&grid);
  // A grid of all ranks except the last.
  if (ranks > 1) {
    int line = ranks - 1, open = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &line, &open, 0, &grid);
    CHECK_EQUAL(grid == MPI_COMM_NULL, me == ranks - 1);
    if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  group_algebra();
  grids();
  MPI_Finalize();
  return 0;
}
