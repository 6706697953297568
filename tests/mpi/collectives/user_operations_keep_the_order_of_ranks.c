// A user's operation that is associative but does not commute is applied in the order of the ranks,
// in every reduction, also on derived types. A commutative one gives the same result as the
// predefined one.
#include "../check.h"

/// x -> a x + b over the integers modulo 2^32: composition is associative and does not commute.
typedef struct {
  uint32_t a, b;
} Affine;

static int me, ranks;

static Affine then(Affine first, Affine second) {
  const Affine both = {second.a * first.a, second.a * first.b + second.b};
  return both;
}

static void compose(void* left, void* right, int* count, MPI_Datatype* type) {
  Affine* first = left;
  Affine* second = right;
  int bytes;
  MPI_Type_size(*type, &bytes);
  CHECK_EQUAL(bytes, sizeof(Affine));
  for (int i = 0; i < *count; i++)
    second[i] = then(first[i], second[i]);
}

static void add(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++)
    ((int*)right)[i] += ((int*)left)[i];
}

/// Adds in a vector type with a hole: the second of three integers is not part of it.
static void add_outer(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; i++) {
    int* to = (int*)((char*)right + i * extent);
    const int* from = (const int*)((char*)left + i * extent);
    to[0] += from[0];
    to[2] += from[2];
  }
}

static Affine operand_of(int rank, int i) {
  const Affine operand = {(uint32_t)(2 * rank + 3 + i), (uint32_t)(rank * 17 + i * 5 + 1)};
  return operand;
}

static Affine composed(int first, int last, int i) {
  Affine all = operand_of(first, i);
  for (int rank = first + 1; rank <= last; rank++)
    all = then(all, operand_of(rank, i));
  return all;
}

static void check_composed(const Affine* values, int count, int last, int first_index) {
  for (int i = 0; i < count; i++) {
    const Affine expected = composed(0, last, first_index + i);
    CHECK_EQUAL(values[i].a, expected.a);
    CHECK_EQUAL(values[i].b, expected.b);
  }
}

static void every_reduction(MPI_Op op, MPI_Datatype type, int count) {
  const size_t total = (size_t)count * (size_t)ranks;
  Affine* out = malloc((total + 1) * sizeof *out);
  Affine* in = malloc((total + 1) * sizeof *in);
  for (size_t i = 0; i < total; i++)
    out[i] = operand_of(me, (int)i);
  for (int root = 0; root < ranks; root += ranks > 8 && root < ranks - 1 ? ranks - 1 : 1) {
    MPI_Reduce(out, in, count, type, op, root, MPI_COMM_WORLD);
    if (me == root) check_composed(in, count, ranks - 1, 0);
  }
  MPI_Allreduce(out, in, count, type, op, MPI_COMM_WORLD);
  check_composed(in, count, ranks - 1, 0);
  MPI_Scan(out, in, count, type, op, MPI_COMM_WORLD);
  check_composed(in, count, me, 0);
  MPI_Exscan(out, in, count, type, op, MPI_COMM_WORLD);
  if (me > 0) check_composed(in, count, me - 1, 0);
  MPI_Reduce_scatter_block(out, in, count, type, op, MPI_COMM_WORLD);
  check_composed(in, count, ranks - 1, me * count);
  memcpy(in, out, (size_t)count * sizeof *in);
  MPI_Allreduce(MPI_IN_PLACE, in, count, type, op, MPI_COMM_WORLD);
  check_composed(in, count, ranks - 1, 0);
  memcpy(in, out, (size_t)count * sizeof *in);
  MPI_Scan(MPI_IN_PLACE, in, count, type, op, MPI_COMM_WORLD);
  check_composed(in, count, me, 0);
  Affine local = operand_of(2, 0);
  const Affine before = operand_of(1, 0);
  MPI_Reduce_local(&before, &local, 1, type, op);
  CHECK_EQUAL(local.b, then(before, operand_of(2, 0)).b);
  free(out);
  free(in);
}

static void one_that_commutes(void) {
  MPI_Op op;
  int sum = 0, own_sum = 0, commutes = 0;
  MPI_Op_create(add, 1, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK_EQUAL(commutes, 1);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&me, &own_sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  CHECK_EQUAL(own_sum, sum);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
}

static void one_on_a_type_with_holes(void) {
  MPI_Datatype outer;
  MPI_Op op;
  MPI_Type_vector(2, 1, 2, MPI_INT, &outer);
  MPI_Type_commit(&outer);
  MPI_Op_create(add_outer, 1, &op);
  int out[6], in[6];
  for (int i = 0; i < 6; i++) {
    out[i] = me + i;
    in[i] = -1;
  }
  MPI_Allreduce(out, in, 2, outer, op, MPI_COMM_WORLD);
  const int ranks_sum = ranks * (ranks - 1) / 2;
  for (int i = 0; i < 6; i++) {
    const int is_hole = i == 1 || i == 4;
    CHECK_EQUAL(in[i], is_hole ? -1 : ranks_sum + ranks * i);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&outer);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Op op;
  MPI_Datatype type;
  int commutes = 1;
  MPI_Op_create(compose, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK_EQUAL(commutes, 0);
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  every_reduction(op, type, 1);
  every_reduction(op, type, 3);
  if (ranks <= 16) {
    every_reduction(op, type, 700);
    every_reduction(op, type, 20000);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  one_that_commutes();
  one_on_a_type_with_holes();
  MPI_Finalize();
  return 0;
}
