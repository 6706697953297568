// Sessions before MPI_Init, beside it and after MPI_Finalize: process sets, groups, communicators
// made from groups, error handlers.
#include "../check.h"

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

static void process_sets(MPI_Session session) {
  int count, length, flag, found = 0, size;
  char name[MPI_MAX_PSET_NAME_LEN], value[16];
  MPI_Info info;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  CHECK(count >= 2);
  for (int i = 0; i < count; i++) {
    length = 0;
    REFUSED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL), MPI_SUCCESS);
    CHECK(length > 1);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK_EQUAL(strlen(name) + 1, length);
    if (strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0) found++;
  }
  CHECK_EQUAL(found, 2);
  // A name that is cut, and ends.
  length = 4;
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
  CHECK_EQUAL(strlen(name), 3);
  MPI_Session_get_pset_info(session, "mpi://SELF", &info);
  size = sizeof value;
  MPI_Info_get_string(info, "mpi_size", &size, value, &flag);
  CHECK(flag && strcmp(value, "1") == 0);
  MPI_Info_free(&info);
  MPI_Session_get_info(session, &info);
  MPI_Info_free(&info);
}

static void communicators(MPI_Session session) {
  int rank, size, sum, expected;
  MPI_Comm world = comm_of(session, "mpi://WORLD", "org.example.world");
  MPI_Comm self = comm_of(session, "MPI://self", "org.example.self");
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Comm_size(self, &expected);
  CHECK_EQUAL(expected, 1);
  // Two at once: what is sent on one is not received on the other.
  MPI_Comm other = comm_of(session, "mpi://WORLD", "org.example.other");
  int a = -1, b = -1, one = 1, two = 2;
  MPI_Request requests[4];
  MPI_Irecv(&a, 1, MPI_INT, (rank + size - 1) % size, 0, world, &requests[0]);
  MPI_Irecv(&b, 1, MPI_INT, (rank + size - 1) % size, 0, other, &requests[1]);
  MPI_Isend(&two, 1, MPI_INT, (rank + 1) % size, 0, other, &requests[2]);
  MPI_Isend(&one, 1, MPI_INT, (rank + 1) % size, 0, world, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(a, 1);
  CHECK_EQUAL(b, 2);
  MPI_Comm_free(&other);

  // Even and odd ranks, and an intercommunicator between them.
  if (size > 1) {
    MPI_Group all, halves[2];
    MPI_Comm inter;
    MPI_Comm_group(world, &all);
    for (int k = 0; k < 2; k++) {
      int range[1][3] = {{k, size - 1, 2}};
      MPI_Group_range_incl(all, 1, range, &halves[k]);
    }
    MPI_Intercomm_create_from_groups(halves[rank % 2], 0, halves[1 - rank % 2], 0,
                                     "org.example.two", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &inter);
    int remote;
    MPI_Comm_remote_size(inter, &remote);
    CHECK_EQUAL(remote, rank % 2 == 0 ? size / 2 : (size + 1) / 2);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    expected = 0;
    for (int i = 1 - rank % 2; i < size; i += 2)
      expected += i;
    CHECK_EQUAL(sum, expected);
    MPI_Comm_free(&inter);
    MPI_Group_free(&all);
    MPI_Group_free(&halves[0]);
    MPI_Group_free(&halves[1]);
  }
  MPI_Comm none;
  MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
  CHECK(none == MPI_COMM_NULL);
  MPI_Comm_free(&world);
  MPI_Comm_free(&self);
}

static int errors_seen = 0;

static void count_error(MPI_Session* session, int* error, ...) {
  CHECK(*session != MPI_SESSION_NULL);
  CHECK_EQUAL(class_of(*error), MPI_ERR_ARG);
  errors_seen++;
}

static int creation_errors = 0;

static void count_creation(MPI_Comm* comm, int* error, ...) {
  CHECK(*comm == MPI_COMM_SELF);
  CHECK_EQUAL(class_of(*error), MPI_ERR_ARG);
  creation_errors++;
}

static int init_errors = 0;

static void count_init(MPI_Session* session, int* error, ...) {
  CHECK(*session != MPI_SESSION_NULL);
  CHECK_EQUAL(class_of(*error), MPI_ERR_INFO_VALUE);
  init_errors++;
}

// An error of a call that gets an error handler is raised there, and not on MPI_COMM_SELF, whose
// handler ends the job.
static void errors_of_creations(void) {
  MPI_Session session;
  MPI_Errhandler of_comm, of_session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  MPI_Session_create_errhandler(count_init, &of_session);
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_ALL");
  REFUSED(MPI_Session_init(info, of_session, &session), MPI_ERR_INFO_VALUE);
  CHECK_EQUAL(init_errors, 1);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
  REFUSED(MPI_Session_init(info, of_session, &session), MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Comm_create_errhandler(count_creation, &of_comm);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  REFUSED(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, of_comm, NULL), MPI_ERR_ARG);
  REFUSED(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, of_comm, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Intercomm_create_from_groups(group, 0, group, 0, NULL, MPI_INFO_NULL, of_comm, &comm),
          MPI_ERR_ARG);
  CHECK_EQUAL(creation_errors, 3);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&of_comm);
  MPI_Errhandler_free(&of_session);
  MPI_Session_finalize(&session);
}

static void errors(void) {
  MPI_Session session;
  MPI_Errhandler handler, got;
  MPI_Group group;
  int length = 0;
  char name[8];
  MPI_Session_create_errhandler(count_error, &handler);
  MPI_Session_init(MPI_INFO_NULL, handler, &session);
  MPI_Session_get_errhandler(session, &got);
  CHECK(got == handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  errors_seen = 0;
  REFUSED(MPI_Group_from_session_pset(session, "nothing", &group), MPI_ERR_ARG);
  REFUSED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, name), MPI_ERR_ARG);
  REFUSED(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
  REFUSED(MPI_Session_call_errhandler(session, MPI_ERR_ARG), MPI_SUCCESS);
  CHECK_EQUAL(errors_seen, 4);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  REFUSED(MPI_Group_from_session_pset(session, "nothing", &group), MPI_ERR_ARG);
  CHECK_EQUAL(errors_seen, 4);
  MPI_Session_finalize(&session);
  CHECK(session == MPI_SESSION_NULL);
}

int main(int argc, char** argv) {
  MPI_Session early, late;
  int flag;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &early);
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 0);
  process_sets(early);
  communicators(early);
  errors_of_creations();
  errors();
  MPI_Init(&argc, &argv);
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  communicators(early);
  MPI_Session_finalize(&early);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &late);
  MPI_Finalize();
  MPI_Finalized(&flag);
  CHECK_EQUAL(flag, 1);
  communicators(late);
  MPI_Session_finalize(&late);
  return 0;
}
