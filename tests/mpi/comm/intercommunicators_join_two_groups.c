// Intercommunicators: creation, the two groups, messages between them, communicators made from
// them, merging. Every collective on them is compared with what the other group's data says.
#include "../check.h"

static int me, ranks;

/// The caller's group: the ranks below the cut, or the others.
struct sides {
  int cut;
  int is_low;
  int own_size, other_size;
  MPI_Comm own;
  MPI_Comm inter;
};

static int world_rank_of_other(const struct sides* sides, int rank) {
  return sides->is_low ? sides->cut + rank : rank;
}

static struct sides split_at(int cut) {
  struct sides sides = {.cut = cut, .is_low = me < cut};
  sides.own_size = sides.is_low ? cut : ranks - cut;
  sides.other_size = ranks - sides.own_size;
  MPI_Comm_split(MPI_COMM_WORLD, sides.is_low, 0, &sides.own);
  // The last rank of each group leads it.
  MPI_Intercomm_create(sides.own, sides.own_size - 1, MPI_COMM_WORLD,
                       sides.is_low ? ranks - 1 : cut - 1, 17, &sides.inter);
  return sides;
}

static void check_groups(const struct sides* sides, MPI_Comm inter) {
  int flag, size, result;
  MPI_Group group;
  MPI_Comm_test_inter(inter, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(size_of(inter), sides->own_size);
  CHECK_EQUAL(rank_in(inter), rank_in(sides->own));
  MPI_Comm_remote_size(inter, &size);
  CHECK_EQUAL(size, sides->other_size);
  MPI_Comm_group(inter, &group);
  MPI_Group_size(group, &size);
  CHECK_EQUAL(size, sides->own_size);
  MPI_Group_rank(group, &result);
  CHECK_EQUAL(result, rank_in(inter));
  MPI_Group_free(&group);
  MPI_Comm_remote_group(inter, &group);
  MPI_Group_size(group, &size);
  CHECK_EQUAL(size, sides->other_size);
  MPI_Group_rank(group, &result);
  CHECK_EQUAL(result, MPI_UNDEFINED);
  MPI_Group_free(&group);
  MPI_Topo_test(inter, &result);
  CHECK_EQUAL(result, MPI_UNDEFINED);
}

/// Every rank sends to every rank of the other group; wildcards match the other group only.
static void messages(const struct sides* sides, MPI_Comm inter) {
  const int n = sides->other_size;
  MPI_Request* requests = malloc(sizeof(MPI_Request) * 2 * (size_t)n);
  int* got = malloc(sizeof(int) * (size_t)n);
  MPI_Status status;
  int value;
  for (int i = 0; i < n; i++) {
    MPI_Irecv(&got[i], 1, MPI_INT, i, 3, inter, &requests[i]);
    MPI_Isend(&me, 1, MPI_INT, i, 3, inter, &requests[n + i]);
  }
  MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(got[i], world_rank_of_other(sides, i));
  // Rank 0 of each group hears from all of the other.
  MPI_Isend(&me, 1, MPI_INT, 0, 4, inter, &requests[0]);
  if (rank_in(inter) == 0) {
    for (int i = 0; i < n; i++) {
      MPI_Probe(MPI_ANY_SOURCE, 4, inter, &status);
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, &status);
      CHECK_EQUAL(value, world_rank_of_other(sides, status.MPI_SOURCE));
    }
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  // A long message in both directions between the first ranks.
  if (rank_in(inter) == 0) {
    enum { count = 50000 };

    int* out = malloc(sizeof(int) * count);
    int* in = malloc(sizeof(int) * count);
    for (int i = 0; i < count; i++)
      out[i] = me + i;
    MPI_Sendrecv(out, count, MPI_INT, 0, 5, in, count, MPI_INT, 0, 5, inter, &status);
    for (int i = 0; i < count; i++)
      CHECK_EQUAL(in[i], world_rank_of_other(sides, 0) + i);
    free(out);
    free(in);
  }
  free(requests);
  free(got);
}

/// Member i of a group has the value 3 * its world rank + 1; what the collectives do to those of
/// the other group.
static int value_of(const struct sides* sides, int other_rank) {
  return 3 * world_rank_of_other(sides, other_rank) + 1;
}

/// The root is the last rank of one group, then of the other.
static void rooted(const struct sides* sides, MPI_Comm inter, int root_is_low) {
  const int n = sides->other_size, in_root_group = sides->is_low == root_is_low;
  const int rank = rank_in(inter), root_rank = (in_root_group ? sides->own_size : n) - 1;
  const int is_root = in_root_group && rank == root_rank;
  const int root = is_root ? MPI_ROOT : in_root_group ? MPI_PROC_NULL : root_rank;
  const int own = 3 * me + 1;
  int* many = malloc(sizeof(int) * 4 * (size_t)(n + 1));
  int* counts = malloc(sizeof(int) * (size_t)(n + 1));
  int* places = malloc(sizeof(int) * (size_t)(n + 1));
  int value = is_root ? own : -1, sum = -1, total = 0;

  MPI_Bcast(&value, 1, MPI_INT, root, inter);
  if (!in_root_group) CHECK_EQUAL(value, value_of(sides, root_rank));

  MPI_Gather(is_root ? NULL : &own, 1, MPI_INT, is_root ? many : NULL, 1, MPI_INT, root, inter);
  for (int i = 0; is_root && i < n; i++)
    CHECK_EQUAL(many[i], value_of(sides, i));

  // Rank i sends i % 3 values.
  const int send[2] = {own, own + 1};
  for (int i = 0; i < n; i++) {
    counts[i] = i % 3;
    places[i] = total + i;
    total += counts[i];
  }
  MPI_Gatherv(send, rank % 3, MPI_INT, many, counts, places, MPI_INT, root, inter);
  for (int i = 0; is_root && i < n; i++)
    for (int k = 0; k < counts[i]; k++)
      CHECK_EQUAL(many[places[i] + k], value_of(sides, i) + k);

  for (int i = 0; i < n; i++)
    many[i] = me * 100 + i;
  value = -1;
  MPI_Scatter(is_root ? many : NULL, 1, MPI_INT, &value, 1, MPI_INT, root, inter);
  if (!in_root_group) CHECK_EQUAL(value, world_rank_of_other(sides, root_rank) * 100 + rank);

  int parts[2] = {-1, -1};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < counts[i]; k++)
      many[places[i] + k] = me * 100 + 2 * i + k;
  MPI_Scatterv(many, counts, places, MPI_INT, parts, rank % 3, MPI_INT, root, inter);
  for (int k = 0; k < 2; k++)
    CHECK_EQUAL(parts[k], !in_root_group && k < rank % 3
                              ? world_rank_of_other(sides, root_rank) * 100 + 2 * rank + k
                              : -1);

  MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, root, inter);
  if (is_root)
    for (int i = 0; i < n; i++)
      sum -= value_of(sides, i);
  CHECK_EQUAL(sum, is_root ? 0 : -1);
  free(many);
  free(counts);
  free(places);
}

static void all_to_all(const struct sides* sides, MPI_Comm inter) {
  const int n = sides->other_size, rank = rank_in(inter), own = 3 * me + 1;
  const size_t room = sizeof(int) * 4 * (size_t)(n + sides->own_size + 1);
  int *from = malloc(room), *to = malloc(room), *counts = malloc(room), *places = malloc(room);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)n);

  MPI_Allgather(&own, 1, MPI_INT, to, 1, MPI_INT, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], value_of(sides, i));

  const int send[2] = {own, own + 1};
  int total = 0;
  for (int i = 0; i < n; i++) {
    counts[i] = i % 3;
    places[i] = total + i;
    total += counts[i];
  }
  MPI_Allgatherv(send, rank % 3, MPI_INT, to, counts, places, MPI_INT, inter);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < counts[i]; k++)
      CHECK_EQUAL(to[places[i] + k], value_of(sides, i) + k);

  for (int i = 0; i < n; i++)
    from[i] = me * 1000 + i;
  MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], world_rank_of_other(sides, i) * 1000 + rank);

  // One value between ranks whose numbers have the same parity.
  for (int i = 0; i < n; i++) {
    counts[i] = (i + rank) % 2 == 0;
    places[i] = i;
    to[i] = -1;
    types[i] = MPI_INT;
  }
  MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], counts[i] ? world_rank_of_other(sides, i) * 1000 + rank : -1);
  for (int i = 0; i < n; i++) {
    places[i] *= (int)sizeof(int);
    to[i] = -1;
  }
  MPI_Alltoallw(from, counts, places, types, to, counts, places, types, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], counts[i] ? world_rank_of_other(sides, i) * 1000 + rank : -1);
  free(from);
  free(to);
  free(counts);
  free(places);
  free(types);
}

/// Short and long operands.
static void reductions(const struct sides* sides, MPI_Comm inter) {
  enum { count = 3000 };

  const int n = sides->other_size;
  int* from = malloc(sizeof(int) * count);
  int* to = malloc(sizeof(int) * count);
  for (int length = 1; length <= count; length += count - 1) {
    for (int i = 0; i < length; i++)
      from[i] = 3 * me + 1 + i;
    MPI_Allreduce(from, to, length, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int i = 0; i < n; i++)
      expected += value_of(sides, i);
    for (int i = 0; i < length; i++)
      CHECK_EQUAL(to[i], expected + n * i);
  }
  free(from);
  free(to);
  // own_size * other_size elements in both groups.
  const int product = sides->own_size * n;
  from = malloc(sizeof(int) * (size_t)product);
  to = malloc(sizeof(int) * (size_t)n);
  for (int i = 0; i < product; i++)
    from[i] = me + i;
  int expected = 0;
  for (int i = 0; i < n; i++)
    expected += world_rank_of_other(sides, i);
  MPI_Reduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], expected + n * (rank_in(inter) * n + i));
  int* counts = malloc(sizeof(int) * (size_t)sides->own_size);
  for (int i = 0; i < sides->own_size; i++)
    counts[i] = n;
  memset(to, 255, sizeof(int) * (size_t)n);
  MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, inter);
  for (int i = 0; i < n; i++)
    CHECK_EQUAL(to[i], expected + n * (rank_in(inter) * n + i));
  free(counts);
  free(from);
  free(to);
}

static void collectives(const struct sides* sides, MPI_Comm inter) {
  MPI_Barrier(inter);
  rooted(sides, inter, 0);
  rooted(sides, inter, 1);
  all_to_all(sides, inter);
  reductions(sides, inter);
  MPI_Barrier(inter);
}

/// Low ranks first if only the other group is high, or if both pass the same.
static void merge(const struct sides* sides, MPI_Comm inter) {
  int flag, rank, sum;
  MPI_Comm merged;
  for (int low_high = 0; low_high < 2; low_high++) {
    MPI_Intercomm_merge(inter, sides->is_low ? low_high : !low_high, &merged);
    MPI_Comm_test_inter(merged, &flag);
    CHECK_EQUAL(flag, 0);
    CHECK_EQUAL(size_of(merged), ranks);
    const int before = sides->is_low == !low_high ? 0 : sides->other_size;
    rank = rank_in(merged);
    CHECK_EQUAL(rank, before + rank_in(inter));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
    MPI_Comm_free(&merged);
  }
  // Both alike: one group comes first, the same for all.
  MPI_Intercomm_merge(inter, 0, &merged);
  rank = rank_in(merged);
  CHECK(rank == rank_in(inter) || rank == rank_in(inter) + sides->other_size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
  MPI_Comm_free(&merged);
}

static int copies = 0;

static int count_copy(MPI_Comm comm, int key, void* state, void* value, void* to, int* flag) {
  (void)comm;
  (void)key;
  (void)state;
  *(void**)to = value;
  *flag = 1;
  copies++;
  return MPI_SUCCESS;
}

static void derived(const struct sides* sides) {
  int result, size, flag, key, value = 5, *found;
  MPI_Comm copy, half, some;
  MPI_Group group, part;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(sides->inter, key, &value);
  copies = 0;
  MPI_Comm_dup(sides->inter, &copy);
  CHECK_EQUAL(copies, 1);
  MPI_Comm_get_attr(copy, key, &found, &flag);
  CHECK(flag && found == &value);
  MPI_Comm_free_keyval(&key);
  check_groups(sides, copy);
  MPI_Comm_compare(copy, sides->inter, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(copy, sides->own, &result);
  CHECK_EQUAL(result, MPI_UNEQUAL);
  messages(sides, copy);
  collectives(sides, copy);
  MPI_Comm_free(&copy);

  // Even and odd ranks of both groups; a color that one group lacks gives no communicator.
  const int rank = rank_in(sides->inter), color = rank % 2;
  const int other_has = color == 0 || sides->other_size > 1;
  MPI_Comm_split(sides->inter, color, -rank, &half);
  CHECK_EQUAL(half != MPI_COMM_NULL, other_has);
  if (half != MPI_COMM_NULL) {
    MPI_Comm_remote_size(half, &size);
    CHECK_EQUAL(size, (sides->other_size + (color == 0)) / 2);
    CHECK_EQUAL(size_of(half), (sides->own_size + (color == 0)) / 2);
    // The keys reverse the order.
    CHECK_EQUAL(rank_in(half), size_of(half) - 1 - rank / 2);
    int* all = malloc(sizeof(int) * (size_t)size);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, half);
    for (int i = 0; i < size; i++)
      CHECK_EQUAL(all[i], world_rank_of_other(sides, 2 * (size - 1 - i) + color));
    free(all);
    MPI_Comm_free(&half);
  }
  MPI_Comm_split(sides->inter, sides->is_low ? 0 : 1, 0, &half);
  CHECK(half == MPI_COMM_NULL);
  MPI_Comm_split(sides->inter, MPI_UNDEFINED, 0, &half);
  CHECK(half == MPI_COMM_NULL);

  // The first rank of each group.
  const int zero[1] = {0};
  MPI_Comm_group(sides->inter, &group);
  MPI_Group_incl(group, 1, zero, &part);
  MPI_Comm_create(sides->inter, part, &some);
  CHECK_EQUAL(some != MPI_COMM_NULL, rank == 0);
  if (some != MPI_COMM_NULL) {
    CHECK_EQUAL(size_of(some), 1);
    MPI_Comm_remote_size(some, &size);
    CHECK_EQUAL(size, 1);
    MPI_Sendrecv(&me, 1, MPI_INT, 0, 0, &value, 1, MPI_INT, 0, 0, some, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, world_rank_of_other(sides, 0));
    MPI_Comm_disconnect(&some);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&part);
}

/// The ranks of a node in both groups; none where one of the groups has no rank there.
static void split_by_node(const struct sides* sides) {
  enum { name_bytes = MPI_MAX_PROCESSOR_NAME };

  int length, size = 0, here = 0, both[1], sizes[1];
  char own[name_bytes] = "";
  char* names = malloc((size_t)name_bytes * (size_t)sides->other_size);
  MPI_Comm node = MPI_COMM_WORLD;
  MPI_Get_processor_name(own, &length);
  MPI_Allgather(own, name_bytes, MPI_CHAR, names, name_bytes, MPI_CHAR, sides->inter);
  for (int i = 0; i < sides->other_size; i++)
    here += strcmp(own, names + (size_t)name_bytes * (size_t)i) == 0;
  CHECK_EQUAL(MPI_Comm_split_type(sides->inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
              MPI_SUCCESS);
  CHECK_EQUAL(node != MPI_COMM_NULL, here > 0);
  if (node != MPI_COMM_NULL) {
    MPI_Comm_remote_size(node, &size);
    CHECK_EQUAL(size, here);
    sizes[0] = size_of(node);
    MPI_Request request;
    MPI_Iallreduce(sizes, both, 1, MPI_INT, MPI_MAX, node, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(both[0], size);
    MPI_Comm_free(&node);
  }
  CHECK_EQUAL(MPI_Comm_split_type(sides->inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node),
              MPI_SUCCESS);
  CHECK(node == MPI_COMM_NULL);
  free(names);
}

/// Two intercommunicators of the same groups at once: their messages do not meet.
static void two_at_once(struct sides* sides) {
  MPI_Comm other;
  const int tag = 8;
  int a = -1, b = -1, one = 2 * me, two = 2 * me + 1;
  MPI_Request requests[4];
  // Over the first one: its leaders reach each other there.
  MPI_Intercomm_create(sides->own, 0, sides->inter, 0, tag, &other);
  check_groups(sides, other);
  const int peer = rank_in(sides->own) % sides->other_size;
  if (rank_in(sides->own) < sides->other_size) {
    MPI_Irecv(&a, 1, MPI_INT, peer, tag, sides->inter, &requests[0]);
    MPI_Irecv(&b, 1, MPI_INT, peer, tag, other, &requests[1]);
    MPI_Isend(&two, 1, MPI_INT, peer, tag, other, &requests[2]);
    MPI_Isend(&one, 1, MPI_INT, peer, tag, sides->inter, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(a, 2 * world_rank_of_other(sides, peer));
    CHECK_EQUAL(b, 2 * world_rank_of_other(sides, peer) + 1);
  }
  MPI_Comm_free(&other);
}

static void cut_at(int cut) {
  struct sides sides = split_at(cut);
  check_groups(&sides, sides.inter);
  messages(&sides, sides.inter);
  collectives(&sides, sides.inter);
  merge(&sides, sides.inter);
  derived(&sides);
  split_by_node(&sides);
  two_at_once(&sides);
  MPI_Comm_free(&sides.inter);
  MPI_Comm_free(&sides.own);
}

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

/// Errors that every member sees, and an error of a leader that all members of both groups get.
static void errors(void) {
  struct sides sides = split_at(1);
  MPI_Comm made;
  int value = 0, other = 0;
  MPI_Comm_set_errhandler(sides.own, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(sides.inter, MPI_ERRORS_RETURN);
  REFUSED(MPI_Intercomm_create(sides.own, sides.own_size, MPI_COMM_WORLD, 0, 0, &made),
          MPI_ERR_RANK);
  REFUSED(MPI_Intercomm_create(sides.own, 0, MPI_COMM_WORLD, 0, -1, &made), MPI_ERR_TAG);
  REFUSED(MPI_Intercomm_create(sides.own, 0, MPI_COMM_NULL, 0, 0, &made), MPI_ERR_COMM);
  REFUSED(MPI_Intercomm_create(sides.own, 0, MPI_COMM_WORLD, ranks, 0, &made), MPI_ERR_RANK);
  REFUSED(MPI_Intercomm_create(sides.inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
  REFUSED(MPI_Intercomm_merge(sides.own, 0, &made), MPI_ERR_COMM);
  REFUSED(MPI_Comm_remote_size(sides.own, &value), MPI_ERR_COMM);
  REFUSED(MPI_Bcast(&value, 1, MPI_INT, -7, sides.inter), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(&value, 1, MPI_INT, sides.other_size, sides.inter), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(&value, 1, MPI_INT, MPI_ROOT, sides.own), MPI_ERR_ROOT);
  REFUSED(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, sides.inter), MPI_ERR_BUFFER);
  REFUSED(MPI_Scan(&value, &other, 1, MPI_INT, MPI_SUM, sides.inter), MPI_ERR_COMM);
  REFUSED(MPI_Exscan(&value, &other, 1, MPI_INT, MPI_SUM, sides.inter), MPI_ERR_COMM);
  MPI_Request request;
  REFUSED(MPI_Iscan(&value, &other, 1, MPI_INT, MPI_SUM, sides.inter, &request), MPI_ERR_COMM);
  REFUSED(MPI_Ibcast(&value, 1, MPI_INT, sides.other_size, sides.inter, &request), MPI_ERR_ROOT);
  REFUSED(MPI_Send(&value, 1, MPI_INT, sides.other_size, 0, sides.inter), MPI_ERR_RANK);
  const int dims[1] = {1};
  REFUSED(MPI_Cart_create(sides.inter, 1, dims, dims, 0, &made), MPI_ERR_COMM);
  // Groups with a rank in common.
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, 0, &made), MPI_ERR_COMM);
  MPI_Comm_free(&sides.inter);
  MPI_Comm_free(&sides.own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ranks = size_of(MPI_COMM_WORLD);
  me = rank_in(MPI_COMM_WORLD);
  if (ranks > 1) {
    cut_at(1);
    cut_at((ranks + 1) / 2);
    if (ranks > 2 && ranks <= 16) cut_at(ranks - 1);
    errors();
  }
  MPI_Finalize();
  return 0;
}
