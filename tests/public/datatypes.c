// Situations of datatypes that public trackers report (README.md). The right values follow from the
// type maps of the standard.
#include "situations.h"

static void check_bounds(
    MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent) {
  MPI_Aint found[4];
  MUST(MPI_Type_get_extent(type, &found[0], &found[1]));
  MUST(MPI_Type_get_true_extent(type, &found[2], &found[3]));
  CHECK_EQUAL(found[0], lb);
  CHECK_EQUAL(found[1], extent);
  CHECK_EQUAL(found[2], true_lb);
  CHECK_EQUAL(found[3], true_extent);
}

/// `count` numbers 0, 1, … are received as `types` elements of `type`; the rest of `into` stays -1.
/// From another rank of the job, if there is one, and from this rank.
static void receive_numbers(
    int count, int elements, MPI_Datatype type, int* into, int length, int first) {
  int* numbers = malloc((size_t)count * sizeof *numbers);
  for (int i = 0; i < count; i++)
    numbers[i] = i;
  const int peers[2] = {rank, (rank + 1) % size};
  int* expected = malloc((size_t)length * sizeof *expected);
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < length; i++)
      into[i] = -1;
    const int from = way == 0 ? rank : (rank + size - 1) % size;
    MUST(MPI_Sendrecv(numbers, count, MPI_INT, peers[way], 0, into + first, elements, type, from, 0,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (way == 1) CHECK_EQUAL(memcmp(expected, into, (size_t)length * sizeof *into), 0);
    memcpy(expected, into, (size_t)length * sizeof *into);
  }
  free(expected);
  free(numbers);
}

// Open MPI 8092: a contiguous type of a resized one rounded its extent.
static void odd_extents_are_kept(void) {
  MPI_Datatype six, one, three;
  MPI_Type_create_resized(MPI_INT, 0, 6, &six);
  MPI_Type_contiguous(1, six, &one);
  MPI_Type_contiguous(3, six, &three);
  check_bounds(six, 0, 6, 0, 4);
  check_bounds(one, 0, 6, 0, 4);
  check_bounds(three, 0, 18, 0, 16);
  MPI_Type_free(&six);
  MPI_Type_free(&one);
  MPI_Type_free(&three);
}

// Open MPI 6899: elements that overlap, since their extent is less than their size, were sent as if
// they did not.
static void elements_that_overlap_are_sent(void) {
  enum { block = 8 };

  int numbers[2 * block], got[2 * block];
  for (int i = 0; i < 2 * block; i++)
    numbers[i] = i;
  for (int extent = 1; extent <= 3; extent++) {
    MPI_Datatype whole, part;
    MPI_Type_contiguous(block, MPI_INT, &whole);
    MPI_Type_create_resized(whole, 0, extent * (MPI_Aint)sizeof(int), &part);
    MPI_Type_commit(&part);
    MUST(MPI_Sendrecv(numbers, 2, part, (rank + 1) % size, 1, got, 2 * block, MPI_INT,
                      (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < block; i++) {
      CHECK_EQUAL(got[i], i);
      CHECK_EQUAL(got[block + i], extent + i);
    }
    MPI_Type_free(&part);
    MPI_Type_free(&whole);
  }
}

// Open MPI 7266: the lower bound of an empty type was the largest number.
static void empty_types_have_no_extent(void) {
  MPI_Datatype types[4];
  const int no_lengths[1] = {0};
  const MPI_Aint places[1] = {40};
  const MPI_Datatype parts[1] = {MPI_DOUBLE};
  MPI_Type_contiguous(0, MPI_INT, &types[0]);
  MPI_Type_vector(0, 3, 5, MPI_INT, &types[1]);
  MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, &types[2]);
  MPI_Type_create_struct(1, no_lengths, places, parts, &types[3]);
  for (int i = 0; i < 4; i++) {
    int bytes = -1;
    MPI_Type_size(types[i], &bytes);
    CHECK_EQUAL(bytes, 0);
    check_bounds(types[i], 0, 0, 0, 0);
    MPI_Type_free(&types[i]);
  }
}

// MPICH 2218: the bounds of a part became those of the whole structure.
static void bounds_of_a_part_are_not_those_of_the_whole(void) {
  MPI_Datatype pair, whole;
  const int pair_lengths[2] = {1, 1};
  const MPI_Aint pair_places[2] = {0, 8};
  const MPI_Datatype pair_parts[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(2, pair_lengths, pair_places, pair_parts, &pair);
  check_bounds(pair, 0, 16, 0, 9);
  const int lengths[3] = {2, 1, 3};
  const MPI_Aint places[3] = {0, 16, 26};
  const MPI_Datatype parts[3] = {MPI_FLOAT, pair, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, places, parts, &whole);
  int bytes = 0;
  MPI_Type_size(whole, &bytes);
  CHECK_EQUAL(bytes, 2 * 4 + 9 + 3);
  check_bounds(whole, 0, 32, 0, 29);
  MPI_Type_free(&whole);
  MPI_Type_free(&pair);
}

// yaksa 111: elements in descending order, with a lower bound above the upper one.
static void negative_extents_add_up(void) {
  MPI_Datatype four, back, three;
  MPI_Type_contiguous(4, MPI_BYTE, &four);
  MPI_Type_create_resized(four, 6, -9, &back);
  MPI_Type_contiguous(3, back, &three);
  MPI_Type_commit(&three);
  check_bounds(back, 6, -9, 0, 4);
  check_bounds(three, -12, 9, -18, 22);
  unsigned char bytes[12], memory[40], packed[12];
  for (int i = 0; i < 12; i++)
    bytes[i] = (unsigned char)(i + 1);
  memset(memory, 0, sizeof memory);
  MUST(MPI_Sendrecv(bytes, 12, MPI_BYTE, rank, 0, memory + 18, 1, three, rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  for (int element = 0; element < 3; element++)
    CHECK_EQUAL(memcmp(memory + 18 - 9 * element, bytes + 4 * element, 4), 0);
  int position = 0;
  MUST(MPI_Pack(memory + 18, 1, three, packed, sizeof packed, &position, MPI_COMM_WORLD));
  CHECK_EQUAL(position, 12);
  CHECK_EQUAL(memcmp(packed, bytes, 12), 0);
  MPI_Type_free(&three);
  MPI_Type_free(&back);
  MPI_Type_free(&four);
}

// MPICH 3755: an indexed type of an indexed type, whose blocks are not in ascending order, lost
// elements.
static void indexed_types_nest_out_of_order(void) {
  enum { elements = 16, length = elements * 96 };

  MPI_Datatype inner, outer;
  const int lengths[2] = {3, 1}, inner_places[2] = {0, 14}, outer_places[2] = {2, 0};
  MPI_Type_indexed(2, lengths, inner_places, MPI_INT, &inner);
  MPI_Type_indexed(2, lengths, outer_places, inner, &outer);
  MPI_Type_commit(&outer);
  // inner: numbers at 0, 1, 2, 14, extent 15; outer: inner at 2, 3, 4, 0, thus numbers from 0 to 75
  // - 1.
  check_bounds(outer, 0, 75 * 4, 0, 75 * 4);
  int* got = malloc(length * sizeof *got);
  receive_numbers(16 * elements, elements, outer, got, length, 0);
  int* expected = malloc(length * sizeof *expected);
  for (int i = 0; i < length; i++)
    expected[i] = -1;
  static const int blocks[4] = {2, 3, 4, 0}, within[4] = {0, 1, 2, 14};
  for (int i = 0; i < 16 * elements; i++)
    expected[i / 16 * 75 + blocks[i / 4 % 4] * 15 + within[i % 4]] = i;
  for (int i = 0; i < length; i++)
    CHECK_EQUAL(got[i], expected[i]);
  free(expected);
  free(got);
  MPI_Type_free(&outer);
  MPI_Type_free(&inner);
}

// Open MPI 3672 and 2561: rows dealt out in turn and columns in blocks lay at wrong places; bounds
// were those of the part.
static void rows_in_turn_and_columns_in_blocks(void) {
  const int sizes[2] = {6, 4}, ways[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int arguments[2] = {2, 2}, grid[2] = {2, 2};
  for (int part = 0; part < 4; part++) {
    MPI_Datatype type;
    MUST(MPI_Type_create_darray(4, part, 2, sizes, ways, arguments, grid, MPI_ORDER_C, MPI_INT,
                                &type));
    MPI_Type_commit(&type);
    const int row_part = part / 2, column_part = part % 2, count = row_part == 0 ? 8 : 4;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQUAL(lb, 0);
    CHECK_EQUAL(extent, 24 * 4);
    int got[24];
    receive_numbers(count, 1, type, got, 24, 0);
    int next = 0;
    for (int row = 0; row < 6; row++)
      for (int column = 0; column < 4; column++)
        CHECK_EQUAL(got[row * 4 + column],
                    row / 2 % 2 == row_part && column / 2 == column_part ? next++ : -1);
    CHECK_EQUAL(next, count);
    MPI_Type_free(&type);
  }
}

// Open MPI 1191: three-dimensional parts of arrays in Fortran's order were those of another array.
static void cubes_of_a_cube_in_the_order_of_fortran(void) {
  const int sizes[3] = {2, 4, 4}, parts[3] = {2, 2, 2};
  for (int part = 0; part < 4; part++) {
    const int starts[3] = {0, part % 2 * 2, part / 2 * 2};
    MPI_Datatype type;
    MUST(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type));
    MPI_Type_commit(&type);
    int got[64];
    receive_numbers(16, 2, type, got, 64, 0);
    for (int i = 0, next = 0; i < 64; i++) {
      const int y = i / 2 % 4, z = i / 8 % 4, is_in = y / 2 == part % 2 && z / 2 == part / 2;
      CHECK_EQUAL(got[i], is_in ? next++ : -1);
    }
    MPI_Type_free(&type);
  }
}

// Charm++ 1395, MPICH 645: the elements of a message that ends within a structure.
static void elements_of_a_message_that_ends_within_a_structure(void) {
  MPI_Datatype type;
  const int lengths[2] = {2, 3};
  const MPI_Aint places[2] = {0, 16};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, parts, &type);
  MPI_Type_commit(&type);
  int numbers[20] = {0}, got[40];
  for (int sent = 0; sent <= 20; sent++) {
    MPI_Status status;
    MUST(MPI_Sendrecv(numbers, sent, MPI_INT, rank, 0, got, 4, type, rank, 0, MPI_COMM_WORLD,
                      &status));
    int elements = -1, count = -1;
    MPI_Count long_elements = -1;
    MUST(MPI_Get_elements(&status, type, &elements));
    MUST(MPI_Get_elements_x(&status, type, &long_elements));
    MUST(MPI_Get_count(&status, type, &count));
    CHECK_EQUAL(elements, sent);
    CHECK_EQUAL(long_elements, sent);
    CHECK_EQUAL(count, sent % 5 == 0 ? sent / 5 : MPI_UNDEFINED);
  }
  MPI_Type_free(&type);
}

// Open MPI 3566: contiguous bytes with a gap before them were taken to begin at the lower bound.
static void a_gap_before_contiguous_bytes(void) {
  MPI_Datatype three, four;
  const int length = 3;
  const MPI_Aint place = 1;
  const MPI_Datatype byte = MPI_CHAR;
  MPI_Type_create_struct(1, &length, &place, &byte, &three);
  MPI_Type_create_resized(three, 0, 4, &four);
  MPI_Type_commit(&four);
  for (int count = 1; count <= 100000; count *= 10) {
    char* sent = malloc((size_t)count * 4);
    char* got = malloc((size_t)count * 4);
    for (int i = 0; i < count * 4; i++)
      sent[i] = (char)(i * 7 % 100);
    memset(got, 101, (size_t)count * 4);
    MUST(MPI_Sendrecv(sent, count, four, (rank + 1) % size, 0, got, count, four,
                      (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < count * 4; i++) {
      if (got[i] != (i % 4 == 0 ? 101 : sent[i])) CHECK_EQUAL(got[i], i % 4 == 0 ? 101 : sent[i]);
    }
    free(got);
    free(sent);
  }
  MPI_Type_free(&four);
  MPI_Type_free(&three);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const Situation all[] = {
      {"odd_extents_are_kept", odd_extents_are_kept},
      {"elements_that_overlap_are_sent", elements_that_overlap_are_sent},
      {"empty_types_have_no_extent", empty_types_have_no_extent},
      {"bounds_of_a_part_are_not_those_of_the_whole", bounds_of_a_part_are_not_those_of_the_whole},
      {"negative_extents_add_up", negative_extents_add_up},
      {"indexed_types_nest_out_of_order", indexed_types_nest_out_of_order},
      {"rows_in_turn_and_columns_in_blocks", rows_in_turn_and_columns_in_blocks},
      {"cubes_of_a_cube_in_the_order_of_fortran", cubes_of_a_cube_in_the_order_of_fortran},
      {"elements_of_a_message_that_ends_within_a_structure",
       elements_of_a_message_that_ends_within_a_structure},
      {"a_gap_before_contiguous_bytes", a_gap_before_contiguous_bytes},
  };
  check_situations(all, COUNT_OF(all), argc, argv);
  MPI_Finalize();
  return 0;
}
