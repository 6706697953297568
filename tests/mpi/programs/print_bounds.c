// Prints lower bound, extent, true lower bound, true extent and size of many random derived
// datatypes, one in a line: the same program under two implementations prints the same text.
// Argument: how many. Members of structs have no bounds that were set explicitly: the standard then
// ignores the bounds of the other members and does not pad, MPICH does neither. The members differ
// in size: MPICH treats a struct of one datatype as an hindexed type, the standard pads it.
#include "../check.h"

enum { kept_max = 24 };

static uint64_t state = 20240229;

/// A datatype, and whether its bounds were set explicitly.
struct kept {
  MPI_Datatype type;
  int has_bounds;
};

static struct kept kept[kept_max];

static int between(int low, int high) {
  return low + random_below(&state, high - low + 1);
}

static const struct kept* any(void) {
  return &kept[between(0, kept_max - 1)];
}

static int size_of_type(MPI_Datatype type) {
  int size = 0;
  if (type != MPI_DATATYPE_NULL) MPI_Type_size(type, &size);
  return size;
}

/// A type whose bounds come from its data, of another size than `other`.
static MPI_Datatype any_plain(MPI_Datatype other) {
  for (int i = between(0, kept_max - 1);; i = (i + 1) % kept_max) {
    if (!kept[i].has_bounds && size_of_type(kept[i].type) != size_of_type(other))
      return kept[i].type;
  }
}

static MPI_Datatype make_struct(void) {
  enum { count_max = 4 };

  const int count = between(2, count_max);
  int lengths[count_max];
  MPI_Aint places[count_max];
  MPI_Datatype types[count_max], made;
  for (int i = 0; i < count; i++) {
    lengths[i] = between(1, 2);
    places[i] = between(-30, 60);
    types[i] = any_plain(i == 0 ? MPI_DATATYPE_NULL : types[i - 1]);
  }
  MPI_Type_create_struct(count, lengths, places, types, &made);
  return made;
}

static MPI_Datatype make_indexed(MPI_Datatype old, int count, int has_bytes) {
  int lengths[4], places[4];
  MPI_Aint byte_places[4];
  MPI_Datatype made;
  for (int i = 0; i < count; i++) {
    lengths[i] = between(1, 3);
    places[i] = between(-6, 6);
    byte_places[i] = between(-50, 50);
  }
  if (has_bytes) {
    MPI_Type_create_hindexed(count, lengths, byte_places, old, &made);
  } else {
    MPI_Type_indexed(count, lengths, places, old, &made);
  }
  return made;
}

static MPI_Datatype make_block_list(MPI_Datatype old, int count, int has_bytes) {
  int places[4];
  MPI_Aint byte_places[4];
  MPI_Datatype made;
  const int length = between(1, 3);
  for (int i = 0; i < count; i++) {
    places[i] = between(-6, 6);
    byte_places[i] = between(-50, 50);
  }
  if (has_bytes) {
    MPI_Type_create_hindexed_block(count, length, byte_places, old, &made);
  } else {
    MPI_Type_create_indexed_block(count, length, places, old, &made);
  }
  return made;
}

static MPI_Datatype make_subarray(MPI_Datatype old) {
  int sizes[2], subsizes[2], starts[2];
  MPI_Datatype made;
  for (int i = 0; i < 2; i++) {
    sizes[i] = between(1, 4);
    subsizes[i] = between(1, sizes[i]);
    starts[i] = between(0, sizes[i] - subsizes[i]);
  }
  MPI_Type_create_subarray(2, sizes, subsizes, starts,
                           between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &made);
  return made;
}

/// Every constructor, of types that were made earlier.
static struct kept make(const char** name) {
  static const char* const names[] = {
      "contiguous",     "vector",   "hvector", "indexed", "hindexed", "block",
      "hindexed_block", "subarray", "struct",  "resized", "dup"};
  const struct kept* from = any();
  const MPI_Datatype old = from->type;
  const int kind = between(0, 10), count = between(1, 4), length = between(1, 3);
  MPI_Datatype made;
  *name = names[kind];
  switch (kind) {
    case 0:
      MPI_Type_contiguous(count, old, &made);
      break;
    case 1:
      MPI_Type_vector(count, length, between(-5, 6), old, &made);
      break;
    case 2:
      MPI_Type_create_hvector(count, length, between(-40, 60), old, &made);
      break;
    case 3:
    case 4:
      made = make_indexed(old, count, kind == 4);
      break;
    case 5:
    case 6:
      made = make_block_list(old, count, kind == 6);
      break;
    case 7:
      made = make_subarray(old);
      break;
    case 8:
      made = make_struct();
      break;
    case 9:
      MPI_Type_create_resized(old, between(-20, 20), between(0, 100), &made);
      break;
    default:
      MPI_Type_dup(old, &made);
  }
  return (struct kept){made, (from->has_bounds && kind != 8) || kind == 7 || kind == 9};
}

int main(int argc, char** argv) {
  const MPI_Datatype basic[] = {MPI_CHAR,  MPI_SHORT, MPI_INT,     MPI_DOUBLE,
                                MPI_FLOAT, MPI_BYTE,  MPI_INT64_T, MPI_UNSIGNED_SHORT};
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  for (int i = 0; i < kept_max; i++)
    MPI_Type_contiguous(1, basic[i % 8], &kept[i].type);
  for (int i = 0; i < count; i++) {
    const char* name;
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;
    struct kept made = make(&name);
    MPI_Type_get_extent(made.type, &lb, &extent);
    MPI_Type_get_true_extent(made.type, &true_lb, &true_extent);
    MPI_Type_size(made.type, &size);
    printf("%d %s %ld %ld %ld %ld %d\n", i, name, (long)lb, (long)extent, (long)true_lb,
           (long)true_extent, size);
    // Nested types grow: large ones are freed, and the first eight stay.
    const int place = between(8, kept_max - 1);
    MPI_Type_free(&kept[place].type);
    if (extent > 400 || extent < -400 || size > 400) {
      MPI_Type_free(&made.type);
      MPI_Type_contiguous(1, basic[i % 8], &made.type);
      made.has_bounds = 0;
    }
    kept[place] = made;
  }
  for (int i = 0; i < kept_max; i++)
    MPI_Type_free(&kept[i].type);
  MPI_Finalize();
  return 0;
}
