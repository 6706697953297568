// Situations of collectives and communicators that public trackers report (README.md).
#include "situations.h"

// MPICH 759 and 6540: MPI_IN_PLACE at a root other than rank 0 ended in a crash.
static void reduce_in_place_at_any_root(void) {
  enum { long_count = 5000 };

  static double values[long_count];
  for (int root = 0; root < size; root++) {
    for (int count = 1; count <= long_count; count *= 5000) {
      for (int i = 0; i < count; i++)
        values[i] = rank + i;
      MUST(MPI_Reduce(rank == root ? MPI_IN_PLACE : values, rank == root ? values : NULL, count,
                      MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
      for (int i = 0; i < count && rank == root; i++)
        CHECK_EQUAL(values[i], size * (size - 1) / 2 + size * i);
      for (int i = 0; i < count && rank != root; i++)
        CHECK_EQUAL(values[i], rank + i);
    }
  }
}

// MPICH 1594, Open MPI 218: the result of MPI_Reduce_scatter in place is at the begin of the
// buffer; with one rank the nonblocking form failed.
static void reduce_scatter_in_place_at_the_begin(void) {
  int* counts = malloc((size_t)size * sizeof *counts);
  int total = 0;
  for (int i = 0; i < size; i++)
    total += counts[i] = i % 3;
  int* values = malloc((size_t)(total + 2 * size + 1) * sizeof *values);
  int before = 0;
  for (int i = 0; i < rank; i++)
    before += counts[i];
  for (int form = 0; form < 2; form++) {
    for (int i = 0; i < total; i++)
      values[i] = rank * 1000 + i;
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == 0) {
      MUST(MPI_Reduce_scatter(MPI_IN_PLACE, values, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    } else {
      MUST(MPI_Ireduce_scatter(MPI_IN_PLACE, values, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                               &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < counts[rank]; i++)
      CHECK_EQUAL(values[i], 1000 * size * (size - 1) / 2 + size * (before + i));
    for (int i = 0; i < 2 * size; i++)
      values[i] = rank * 1000 + i;
    MUST(MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++)
      CHECK_EQUAL(values[i], 1000 * size * (size - 1) / 2 + size * (2 * rank + i));
  }
  int alone[3] = {4, 5, 6}, three = 3;
  MPI_Request request;
  MUST(MPI_Ireduce_scatter(MPI_IN_PLACE, alone, &three, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQUAL(alone[2], 6);
  free(counts);
  free(values);
}

// MPICH 872: elements of an empty type match a receive of no elements.
static void exchange_of_empty_elements(void) {
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  int* counts = calloc((size_t)size * 4, sizeof *counts);
  int *many = counts, *none = counts + size, *places = counts + 2 * size;
  MPI_Datatype* types = malloc((size_t)size * 2 * sizeof *types);
  for (int i = 0; i < size; i++) {
    many[i] = 3 + i;
    types[i] = empty;
    types[size + i] = MPI_INT;
  }
  int unused = 8;
  MUST(MPI_Alltoallw(&unused, many, places, types, &unused, none, places, types + size,
                     MPI_COMM_WORLD));
  MUST(MPI_Alltoallw(&unused, none, places, types + size, &unused, many, places, types,
                     MPI_COMM_WORLD));
  MUST(MPI_Alltoallv(&unused, many, places, empty, &unused, none, places, MPI_INT, MPI_COMM_WORLD));
  MUST(MPI_Allgather(&unused, 2, empty, &unused, 0, MPI_INT, MPI_COMM_WORLD));
  CHECK_EQUAL(unused, 8);
  free(types);
  free(counts);
  MPI_Type_free(&empty);
}

// Open MPI 8763: MPI_Ialltoallw failed with derived types that are freed before it has ended.
static void types_freed_during_an_exchange(void) {
  enum { length = 200 };

  int* sent = malloc((size_t)size * length * sizeof *sent);
  int* got = malloc((size_t)size * length * sizeof *got);
  int* ones = malloc((size_t)size * 2 * sizeof *ones);
  int* places = ones + size;
  MPI_Datatype* types = malloc((size_t)size * sizeof *types);
  for (int i = 0; i < size; i++) {
    ones[i] = 1;
    places[i] = (int)((size_t)i * length * sizeof *sent);
    // Every second number of a block.
    MPI_Type_vector(length / 2, 1, 2, MPI_INT, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  for (int i = 0; i < size * length; i++) {
    sent[i] = rank * 100000 + i;
    got[i] = -1;
  }
  MPI_Request request;
  MUST(MPI_Ialltoallw(sent, ones, places, types, got, ones, places, types, MPI_COMM_WORLD,
                      &request));
  for (int i = 0; i < size; i++)
    MPI_Type_free(&types[i]);
  // A new type may lie where a freed one was.
  MPI_Datatype other;
  MPI_Type_contiguous(7, MPI_CHAR, &other);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Type_free(&other);
  for (int from = 0; from < size; from++)
    for (int i = 0; i < length; i++)
      CHECK_EQUAL(got[from * length + i], i % 2 == 1 ? -1 : from * 100000 + rank * length + i);
  free(types);
  free(ones);
  free(got);
  free(sent);
}

// hpddm 19 and IPM 41 (MVAPICH2, MPICH): arguments that count at the root only were checked
// elsewhere, and the type beside MPI_IN_PLACE.
static void arguments_without_meaning_are_not_read(void) {
  const int root = size - 1, is_root = rank == root;
  int* all = malloc((size_t)size * sizeof *all);
  int* counts = malloc((size_t)size * 2 * sizeof *counts);
  for (int i = 0; i < size; i++) {
    counts[i] = 1;
    counts[size + i] = i;
  }
  MPI_Request request;
  MPI_Datatype at_root = is_root ? MPI_INT : MPI_DATATYPE_NULL;
  MUST(MPI_Igather(&rank, 1, MPI_INT, is_root ? all : NULL, is_root ? 1 : -5, at_root, root,
                   MPI_COMM_WORLD, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < size && is_root; i++)
    CHECK_EQUAL(all[i], i);
  MUST(MPI_Gatherv(&rank, 1, MPI_INT, is_root ? all : NULL, is_root ? counts : NULL,
                   is_root ? counts + size : NULL, at_root, root, MPI_COMM_WORLD));
  int own = -1;
  MUST(MPI_Scatter(is_root ? all : NULL, is_root ? 1 : -5, at_root, &own, 1, MPI_INT, root,
                   MPI_COMM_WORLD));
  CHECK_EQUAL(own, rank);
  all[rank] = 10 * rank;
  MUST(MPI_Allgather(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; i++)
    CHECK_EQUAL(all[i], 10 * i);
  MUST(MPI_Gather(is_root ? MPI_IN_PLACE : &all[rank], is_root ? 0 : 1,
                  is_root ? MPI_DATATYPE_NULL : MPI_INT, all, 1, at_root, root, MPI_COMM_WORLD));
  free(counts);
  free(all);
}

// MPICH 1493: ranks with equal keys changed their order.
static void equal_keys_keep_the_order(void) {
  const int keys[6] = {2, 1, 2, 1, 0, 1};
  MPI_Comm part;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, keys[rank % 6], &part));
  int expected = 0;
  for (int i = 0; i < size; i++)
    expected += keys[i % 6] < keys[rank % 6] || (keys[i % 6] == keys[rank % 6] && i < rank);
  CHECK_EQUAL(rank_in(part), expected);
  MPI_Comm_free(&part);
}

// Open MPI 8854, 1788 and 11672: MPI_Comm_split_type did not order by key, refused MPI_UNDEFINED of
// single ranks, and failed on intercommunicators.
static void split_by_type_keeps_keys_and_leaves_ranks_out(void) {
  MPI_Comm whole, part;
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &whole));
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &part));
  CHECK_EQUAL(size_of(part), size_of(whole));
  CHECK_EQUAL(rank_in(part), size_of(whole) - 1 - rank_in(whole));
  MPI_Comm_free(&part);
  const int is_out = rank_in(whole) % 2 == 1;
  MUST(MPI_Comm_split_type(whole, is_out ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                           &part));
  CHECK_EQUAL(part == MPI_COMM_NULL, is_out);
  if (!is_out) {
    CHECK_EQUAL(size_of(part), (size_of(whole) + 1) / 2);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&whole);
  if (size < 2) return;
  const int is_low = rank < size / 2;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size / 2 : 0, 9, &between);
  MUST(MPI_Comm_split_type(between, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part));
  int is_inter = 0;
  if (part != MPI_COMM_NULL) {
    MPI_Comm_test_inter(part, &is_inter);
    CHECK_EQUAL(is_inter, 1);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static int deleted[3], deleted_count;

static int note_deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key;
  (void)extra;
  int of_self = -1, is_finalized = 1;
  MPI_Comm_size(comm, &of_self);
  MPI_Finalized(&is_finalized);
  // MPI still works: a message to itself.
  int got = -1;
  const int sent = (int)(intptr_t)value;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (of_self == 1 && !is_finalized && deleted_count < 3) deleted[deleted_count++] = got;
  return MPI_SUCCESS;
}

static int copy_doubled(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm;
  (void)key;
  (void)extra;
  *(void**)out = (void*)(2 * (intptr_t)in);
  *flag = (intptr_t)in != 5;
  return MPI_SUCCESS;
}

// Charm++ 1097, MPICH 2053: MPI_Comm_dup lost attributes; a key that was freed could be freed
// again.
static void attributes_are_copied_as_their_key_says(void) {
  int key, no_copy, flag = 0;
  void* value = NULL;
  MPI_Comm_create_keyval(copy_doubled, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &no_copy, NULL);
  MPI_Comm first, second, third;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, (void*)(intptr_t)21);
  MPI_Comm_set_attr(first, no_copy, (void*)(intptr_t)3);
  MUST(MPI_Comm_dup(first, &second));
  MUST(MPI_Comm_get_attr(second, key, &value, &flag));
  CHECK(flag && (intptr_t)value == 42);
  MUST(MPI_Comm_get_attr(second, no_copy, &value, &flag));
  CHECK_EQUAL(flag, 0);
  MPI_Comm_set_attr(first, key, (void*)(intptr_t)5);
  MPI_Request request;
  MUST(MPI_Comm_idup(first, &third, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_get_attr(third, key, &value, &flag));
  CHECK_EQUAL(flag, 0);
  MUST(MPI_Comm_free_keyval(&key));
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
  CHECK_EQUAL(class_of(MPI_Comm_free_keyval(&key)), MPI_ERR_KEYVAL);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  MPI_Comm_free(&third);
  MPI_Comm_free_keyval(&no_copy);
}

// MPICH 1763: MPI_Reduce_local with MPI_IN_PLACE crashed. It is an error.
static void reduce_local_refuses_in_place(void) {
  double values[3] = {1, 2, 3};
  CHECK(MPI_Reduce_local(MPI_IN_PLACE, values, 3, MPI_DOUBLE, MPI_SUM) != MPI_SUCCESS);
  CHECK_EQUAL(values[2], 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const Situation all[] = {
      {"reduce_in_place_at_any_root", reduce_in_place_at_any_root},
      {"reduce_scatter_in_place_at_the_begin", reduce_scatter_in_place_at_the_begin},
      {"exchange_of_empty_elements", exchange_of_empty_elements},
      {"types_freed_during_an_exchange", types_freed_during_an_exchange},
      {"arguments_without_meaning_are_not_read", arguments_without_meaning_are_not_read},
      {"equal_keys_keep_the_order", equal_keys_keep_the_order},
      {"split_by_type_keeps_keys_and_leaves_ranks_out",
       split_by_type_keeps_keys_and_leaves_ranks_out},
      {"attributes_are_copied_as_their_key_says", attributes_are_copied_as_their_key_says},
      {"reduce_local_refuses_in_place", reduce_local_refuses_in_place},
  };
  check_situations(all, COUNT_OF(all), argc, argv);
  // Open MPI 12035: MPI_Finalize frees MPI_COMM_SELF first, whose attributes go in the reverse of
  // the order in which they were set.
  int keys[3];
  for (int i = 0; i < 3; i++) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deleted, &keys[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void*)(intptr_t)(i + 1));
  }
  MPI_Finalize();
  if (deleted_count == 3 && deleted[0] == 3 && deleted[1] == 2 && deleted[2] == 1) return 0;
  fprintf(stderr, "%d attributes of MPI_COMM_SELF were deleted: %d %d %d\n", deleted_count,
          deleted[0], deleted[1], deleted[2]);
  return 1;
}
