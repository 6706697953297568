// MPI_Comm_dup, split, create, create_group and split_type give each member the right rank among
// the right members, and the new communicators carry their own messages and collectives.
#include "../check.h"

static int me, ranks;

/// The members' world ranks are as given, and the communicator works.
static void check_members(MPI_Comm comm, const int* world_ranks, int count) {
  CHECK_EQUAL(size_of(comm), count);
  const int own = rank_in(comm);
  CHECK_EQUAL(world_ranks[own], me);
  int* all = malloc((size_t)count * sizeof *all);
  MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(all[i], world_ranks[i]);
  free(all);
  const int right = (own + 1) % count, left = (own + count - 1) % count;
  int got = -1;
  MPI_Sendrecv(&me, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, world_ranks[left]);
}

static void duplicates(void) {
  int* everybody = malloc((size_t)ranks * sizeof *everybody);
  int result;
  for (int i = 0; i < ranks; i++)
    everybody[i] = i;
  MPI_Comm copy, copy_of_copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &copy_of_copy);
  check_members(copy, everybody, ranks);
  check_members(copy_of_copy, everybody, ranks);
  MPI_Comm_compare(copy, copy_of_copy, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(copy, copy, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Comm_free(&copy);
  CHECK(copy == MPI_COMM_NULL);
  check_members(copy_of_copy, everybody, ranks);
  MPI_Comm_disconnect(&copy_of_copy);
  CHECK(copy_of_copy == MPI_COMM_NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  check_members(copy, &me, 1);
  MPI_Comm_free(&copy);
  free(everybody);
}

static void splits(void) {
  int* members = malloc((size_t)ranks * sizeof *members);
  int result, count = 0;
  MPI_Comm part;
  // By remainder, last first.
  MPI_Comm_split(MPI_COMM_WORLD, me % 3, -me, &part);
  for (int i = ranks - 1; i >= 0; i--) {
    if (i % 3 == me % 3) members[count++] = i;
  }
  check_members(part, members, count);
  MPI_Comm_compare(part, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, ranks == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  // A split of the split; the key is equal, so that the order is the parent's.
  MPI_Comm half;
  MPI_Comm_split(part, rank_in(part) < count / 2 ? 0 : 7, 0, &half);
  const int is_first = rank_in(part) < count / 2;
  check_members(half, is_first ? members : members + count / 2,
                is_first ? count / 2 : count - count / 2);
  MPI_Comm_free(&half);
  MPI_Comm_free(&part);
  // Reversed: the same members in another order.
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &part);
  MPI_Comm_compare(part, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, ranks == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  MPI_Comm_free(&part);
  // Some ranks stay outside.
  MPI_Comm_split(MPI_COMM_WORLD, me % 2 == 0 ? 4 : MPI_UNDEFINED, me, &part);
  CHECK_EQUAL(part == MPI_COMM_NULL, me % 2);
  if (part != MPI_COMM_NULL) {
    count = 0;
    for (int i = 0; i < ranks; i += 2)
      members[count++] = i;
    check_members(part, members, count);
    MPI_Comm_free(&part);
  }
  // Ranks that share memory are on a machine of the same name; simulated nodes have their own
  // names.
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  char* names = malloc((size_t)ranks * sizeof name);
  int length;
  MPI_Get_processor_name(name, &length);
  MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
  count = 0;
  for (int i = 0; i < ranks; i++)
    if (strcmp(names + (size_t)i * sizeof name, name) == 0) members[count++] = i;
  free(names);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &part);
  check_members(part, members, count);
  MPI_Comm_free(&part);
  free(members);
}

static void creations(void) {
  MPI_Group world, first_half, mine;
  MPI_Comm comm;
  const int middle = (ranks + 1) / 2;
  int* members = malloc((size_t)ranks * sizeof *members);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  // The first half in reverse.
  for (int i = 0; i < middle; i++)
    members[i] = middle - 1 - i;
  MPI_Group_incl(world, middle, members, &first_half);
  MPI_Comm_create(MPI_COMM_WORLD, first_half, &comm);
  CHECK_EQUAL(comm != MPI_COMM_NULL, me < middle);
  if (me < middle) {
    check_members(comm, members, middle);
    MPI_Comm_free(&comm);
    // Only its members call.
    MPI_Comm_create_group(MPI_COMM_WORLD, first_half, 17, &comm);
    check_members(comm, members, middle);
    MPI_Comm_free(&comm);
  }
  // Disjoint groups at once: each rank passes its own.
  int count = 0;
  for (int i = me % 2; i < ranks; i += 2)
    members[count++] = i;
  MPI_Group_incl(world, count, members, &mine);
  MPI_Comm_create(MPI_COMM_WORLD, mine, &comm);
  check_members(comm, members, count);
  MPI_Comm_free(&comm);
  MPI_Comm_create_group(MPI_COMM_WORLD, mine, 0, &comm);
  check_members(comm, members, count);
  MPI_Comm_free(&comm);
  MPI_Group_free(&world);
  MPI_Group_free(&first_half);
  MPI_Group_free(&mine);
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
  CHECK(comm == MPI_COMM_NULL);
  free(members);
}

static void a_communicator_lives_until_its_messages_have_arrived(void) {
  MPI_Comm comm;
  MPI_Request requests[2];
  int value = -1;
  const int partner = ranks - 1 - me;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Irecv(&value, 1, MPI_INT, partner, 0, comm, &requests[0]);
  MPI_Isend(&me, 1, MPI_INT, partner, 0, comm, &requests[1]);
  MPI_Comm_free(&comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(value, partner);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm comm;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK_EQUAL(strcmp(name, "MPI_COMM_WORLD"), 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_name(comm, name, &length);
  CHECK_EQUAL(length, 0);
  MPI_Comm_set_name(comm, "halo");
  MPI_Comm_get_name(comm, name, &length);
  CHECK_EQUAL(strcmp(name, "halo"), 0);
  CHECK_EQUAL(length, 4);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  duplicates();
  splits();
  creations();
  a_communicator_lives_until_its_messages_have_arrived();
  names();
  MPI_Finalize();
  return 0;
}
