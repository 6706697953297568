// datatypes [ROUNDS]: random datatypes, nested up to four deep, whose elements this program knows,
// go from rank to rank and through collectives into another layout of the same elements. Every byte
// of the receiver is compared, those between the elements, too. All ranks draw the same numbers.
#include "../check.h"

enum { elements_max = 120, copies_max = 3 };

static const MPI_Datatype* basics(void) {
  static MPI_Datatype types[4];
  types[0] = MPI_CHAR;
  types[1] = MPI_SHORT;
  types[2] = MPI_INT;
  types[3] = MPI_DOUBLE;
  return types;
}

static const int widths[4] = {1, 2, 4, 8};

/// Elements in the order of the type map; they do not overlap, and lie from 0 to below the extent.
typedef struct {
  MPI_Datatype type;
  int count;
  int kinds[elements_max];
  MPI_Aint places[elements_max];
  MPI_Aint extent;
} Layout;

static void add_copy(Layout* to, const Layout* part, MPI_Aint at) {
  for (int i = 0; i < part->count; i++) {
    to->kinds[to->count] = part->kinds[i];
    to->places[to->count++] = part->places[i] + at;
    const MPI_Aint end = part->places[i] + at + widths[part->kinds[i]];
    if (end > to->extent) to->extent = end;
  }
}

/// With a given extent, so that none depends on the alignment of structures.
static void finish(Layout* layout, MPI_Datatype raw, MPI_Aint extent) {
  MPI_Type_create_resized(raw, 0, extent, &layout->type);
  layout->extent = extent;
}

static void make_basic(Layout* layout, uint64_t* random) {
  const int kind = random_below(random, 4);
  layout->count = 0;
  layout->extent = 0;
  const Layout one = {.count = 1, .kinds = {kind}};
  add_copy(layout, &one, 0);
  MPI_Type_dup(basics()[kind], &layout->type);
}

/// A type over one or two smaller ones.
static void make_layout(Layout* layout, uint64_t* random, int depth) {
  if (depth == 0) {
    make_basic(layout, random);
    return;
  }
  Layout* part = malloc(2 * sizeof *part);
  make_layout(&part[0], random, depth - 1);
  const Layout* a = &part[0];
  layout->count = 0;
  layout->extent = 0;
  const int copies = elements_max / 2 / a->count < 5 ? elements_max / 2 / a->count : 5;
  const int blocks = copies < 1 ? 1 : 1 + random_below(random, copies);
  const MPI_Aint x = a->extent;
  int lengths[5], places[5];
  MPI_Aint addresses[5], at = 0;
  MPI_Datatype raw;
  const int kind = blocks * a->count > elements_max / 2 ? 0 : random_below(random, 8);
  switch (kind) {
    case 0:
      MPI_Type_contiguous(1, a->type, &raw);
      add_copy(layout, a, 0);
      break;
    case 1: {
      const int stride = 1 + random_below(random, 3);
      MPI_Type_vector(blocks, 1, stride, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        add_copy(layout, a, i * stride * x);
      break;
    }
    case 2: {
      const MPI_Aint stride = x + random_below(random, 20);
      MPI_Type_create_hvector(blocks, 1, stride, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        add_copy(layout, a, i * stride);
      break;
    }
    case 3:
      // Blocks of one or two, as far as there is room, in descending order.
      for (int i = 0, left = copies; i < blocks; i++) {
        lengths[i] = left > blocks - i ? 1 + random_below(random, 2) : 1;
        left -= lengths[i];
        places[blocks - 1 - i] = (int)at;
        at += 2 + random_below(random, 3);
      }
      MPI_Type_indexed(blocks, lengths, places, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        for (int k = 0; k < lengths[i]; k++)
          add_copy(layout, a, (places[i] + k) * x);
      break;
    case 4:
      for (int i = 0; i < blocks; i++) {
        lengths[i] = 1;
        addresses[i] = at;
        at += x + random_below(random, 9);
      }
      MPI_Type_create_hindexed(blocks, lengths, addresses, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        add_copy(layout, a, addresses[i]);
      break;
    case 5: {
      // The second part is another type.
      make_layout(&part[1], random, depth > 1 ? random_below(random, depth) : 0);
      MPI_Datatype types[2] = {a->type, part[1].type};
      const int both = a->count + part[1].count <= elements_max;
      const int turned = both && random_below(random, 2);
      addresses[turned] = random_below(random, 7);
      addresses[1 - turned] = addresses[turned] + part[turned].extent + random_below(random, 7);
      lengths[0] = lengths[1] = 1;
      MPI_Type_create_struct(both ? 2 : 1, lengths, addresses, types, &raw);
      for (int i = 0; i < (both ? 2 : 1); i++)
        add_copy(layout, &part[i], addresses[i]);
      MPI_Type_free(&part[1].type);
      break;
    }
    case 6: {
      int sizes[2] = {blocks + random_below(random, 3), 1 + random_below(random, 3)};
      int parts[2] = {blocks, 1};
      int starts[2] = {random_below(random, sizes[0] - blocks + 1), random_below(random, sizes[1])};
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        add_copy(layout, a, ((starts[0] + i) * sizes[1] + starts[1]) * x);
      break;
    }
    default:
      for (int i = 0; i < blocks; i++)
        places[i] = i * 2 + random_below(random, 2);
      MPI_Type_create_indexed_block(blocks, 1, places, a->type, &raw);
      for (int i = 0; i < blocks; i++)
        add_copy(layout, a, places[i] * x);
  }
  finish(layout, raw, layout->extent + random_below(random, 10));
  MPI_Type_free(&raw);
  MPI_Type_free(&part[0].type);
  free(part);
}

/// Puts the elements at other places, in random order.
static void make_other(Layout* other, const Layout* like, uint64_t* random) {
  int order[elements_max], lengths[elements_max];
  MPI_Datatype types[elements_max], raw;
  *other = *like;
  for (int i = 0; i < like->count; i++) {
    const int j = random_below(random, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  MPI_Aint at = 0;
  for (int i = 0; i < like->count; i++) {
    const int element = order[i];
    other->places[element] = at;
    at +=
        widths[like->kinds[element]] + (random_below(random, 3) == 0 ? random_below(random, 5) : 0);
  }
  for (int i = 0; i < like->count; i++) {
    lengths[i] = 1;
    types[i] = basics()[like->kinds[i]];
  }
  MPI_Type_create_struct(like->count, lengths, other->places, types, &raw);
  finish(other, raw, at + random_below(random, 8));
  MPI_Type_free(&raw);
}

static unsigned char* make_source(const Layout* layout, int copies, uint64_t key) {
  const size_t bytes = (size_t)layout->extent * (size_t)copies;
  unsigned char* data = malloc(bytes + 1);
  pattern_fill(data, bytes, key);
  return data;
}

/// `found` holds `copies` of `to`, sent as `from` out of make_source(key).
static void check(const unsigned char* found,
                  const Layout* from,
                  const Layout* to,
                  int copies,
                  uint64_t key,
                  int round,
                  const char* what) {
  const size_t bytes = (size_t)to->extent * (size_t)copies;
  unsigned char* expected = malloc(bytes + 1);
  memset(expected, 0x5a, bytes);
  for (int k = 0; k < copies; k++)
    for (int i = 0; i < to->count; i++)
      for (int b = 0; b < widths[to->kinds[i]]; b++)
        expected[k * to->extent + to->places[i] + b] =
            pattern_byte(key, (size_t)(k * from->extent + from->places[i] + b));
  for (size_t i = 0; i < bytes; i++) {
    if (found[i] == expected[i]) continue;
    fprintf(stderr,
            "oracle datatypes: round %d, %s: byte %zu of %zu (%d copies of %d elements) is %d at "
            "rank %d, not %d\n",
            round, what, i, bytes, copies, to->count, found[i], rank_in(MPI_COMM_WORLD),
            expected[i]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(expected);
}

static unsigned char* make_target(const Layout* layout, int copies) {
  unsigned char* data = malloc((size_t)layout->extent * (size_t)copies + 1);
  memset(data, 0x5a, (size_t)layout->extent * (size_t)copies);
  return data;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  uint64_t random = random_seed(1);
  static Layout from, to;
  for (int round = 0; round < rounds; round++) {
    make_layout(&from, &random, random_below(&random, 5));
    make_other(&to, &from, &random);
    MPI_Type_commit(&from.type);
    MPI_Type_commit(&to.type);
    const uint64_t key = random_next(&random);
    const int copies = 1 + random_below(&random, copies_max), shift = random_below(&random, size);
    const int up = (rank + shift) % size, down = (rank + size - shift) % size, root = shift;
    unsigned char* out = make_source(&from, copies, key + (uint64_t)rank);
    unsigned char* in = make_target(&to, copies);
    MPI_Sendrecv(out, copies, from.type, up, round, in, copies, to.type, down, round,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, &from, &to, copies, key + (uint64_t)down, round, "sendrecv");
    // A round trip through packed bytes.
    int packed_max, position = 0;
    MPI_Pack_size(copies, from.type, MPI_COMM_WORLD, &packed_max);
    char* packed = malloc((size_t)packed_max + 1);
    MPI_Pack(out, copies, from.type, packed, packed_max, &position, MPI_COMM_WORLD);
    const int length = position;
    position = 0;
    memset(in, 0x5a, (size_t)to.extent * (size_t)copies);
    MPI_Unpack(packed, length, &position, in, copies, to.type, MPI_COMM_WORLD);
    CHECK_EQUAL(position, length);
    check(in, &from, &to, copies, key + (uint64_t)rank, round, "pack");
    free(packed);
    memset(in, 0x5a, (size_t)to.extent * (size_t)copies);
    if (rank == root) {
      MPI_Bcast(out, copies, from.type, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(in, copies, to.type, root, MPI_COMM_WORLD);
      check(in, &from, &to, copies, key + (uint64_t)root, round, "bcast");
    }
    free(in);
    in = make_target(&to, copies * size);
    MPI_Allgather(out, copies, from.type, in, copies, to.type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
      check(in + (size_t)i * (size_t)copies * (size_t)to.extent, &from, &to, copies,
            key + (uint64_t)i, round, "allgather");
    free(in);
    free(out);
    // To each rank its own copies.
    out = make_source(&from, size, key + (uint64_t)rank);
    in = make_target(&to, size);
    MPI_Alltoall(out, 1, from.type, in, 1, to.type, MPI_COMM_WORLD);
    unsigned char* one = make_target(&to, size);
    for (int i = 0; i < size; i++)
      for (int e = 0; e < to.count; e++)
        for (int b = 0; b < widths[to.kinds[e]]; b++)
          one[i * to.extent + to.places[e] + b] =
              pattern_byte(key + (uint64_t)i, (size_t)(rank * from.extent + from.places[e] + b));
    CHECK_EQUAL(memcmp(in, one, (size_t)to.extent * (size_t)size), 0);
    free(one);
    free(in);
    free(out);
    MPI_Type_free(&from.type);
    MPI_Type_free(&to.type);
  }
  if (rank == 0) printf("oracle datatypes: %d types are right\n", rounds);
  MPI_Finalize();
  return 0;
}
