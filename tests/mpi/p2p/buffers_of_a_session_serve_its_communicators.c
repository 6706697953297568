// The buffer of a session serves the sends of the communicators that are derived from it, through
// groups and other communicators, unless a communicator has its own; flushing, detaching and the
// end of the session wait for these sends.
#include "../check.h"

enum { message_bytes = 4096, room = 2 * (message_bytes + MPI_BSEND_OVERHEAD) };

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void send_and_receive(MPI_Comm comm, MPI_Session session, MPI_Request* flush) {
  static unsigned char out[message_bytes], in[message_bytes];
  const int me = rank_in(comm), partner = size_of(comm) - 1 - me;
  pattern_fill(out, message_bytes, (uint64_t)me);
  CHECK_EQUAL(MPI_Bsend(out, message_bytes, MPI_BYTE, partner, 1, comm), MPI_SUCCESS);
  memset(out, 0, message_bytes);
  if (flush != NULL) CHECK_EQUAL(MPI_Session_iflush_buffer(session, flush), MPI_SUCCESS);
  MPI_Recv(in, message_bytes, MPI_BYTE, partner, 1, comm, MPI_STATUS_IGNORE);
  CHECK_PATTERN(in, message_bytes, (uint64_t)partner);
  if (flush != NULL) MPI_Wait(flush, MPI_STATUS_IGNORE);
}

static int errors_seen = 0;

static void count_error(MPI_Session* session, int* error, ...) {
  CHECK(*session != MPI_SESSION_NULL);
  CHECK_EQUAL(class_of(*error), MPI_ERR_BUFFER);
  errors_seen++;
}

int main(void) {
  MPI_Session session, other;
  MPI_Group group, subgroup;
  MPI_Comm comm, derived, of_subgroup, of_other;
  MPI_Request flush = MPI_REQUEST_NULL;
  MPI_Errhandler handler;
  MPI_Count bytes = 0;
  int size = 0, zero = 0;
  char* own = malloc(room);
  char* detached = NULL;
  char value = 0;
  MPI_Session_create_errhandler(count_error, &handler);
  MPI_Session_init(MPI_INFO_NULL, handler, &session);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
  MPI_Errhandler_free(&handler);

  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_dup(comm, &derived);
  MPI_Group_free(&group);
  MPI_Comm_group(derived, &group);
  MPI_Group_excl(group, 0, &zero, &subgroup);
  MPI_Comm_create_from_group(subgroup, "more", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_subgroup);
  MPI_Group_free(&group);
  MPI_Group_free(&subgroup);
  MPI_Group_from_session_pset(other, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "other", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_other);
  MPI_Group_free(&group);
  const int partner = size_of(comm) - 1 - rank_in(comm);

  CHECK_EQUAL(MPI_Session_attach_buffer(session, own, room), MPI_SUCCESS);
  // The handler of the session, not that of a communicator.
  REFUSED(MPI_Session_attach_buffer_c(session, own, room), MPI_ERR_BUFFER);
  CHECK_EQUAL(errors_seen, 1);
  REFUSED(MPI_Session_detach_buffer(other, &detached, &size), MPI_ERR_BUFFER);
  MPI_Comm all[3] = {comm, derived, of_subgroup};
  for (int round = 0; round < 9; round++) {
    send_and_receive(all[round % 3], session, round % 2 ? &flush : NULL);
    if (round % 2 == 0) CHECK_EQUAL(MPI_Session_flush_buffer(session), MPI_SUCCESS);
    CHECK(flush == MPI_REQUEST_NULL);
  }
  // One session may not use the buffer of another one.
  REFUSED(MPI_Bsend(&value, 1, MPI_BYTE, partner, 0, of_other), MPI_ERR_BUFFER);
  // It has room for two messages, whichever communicators they use, until these are sent.
  REFUSED(MPI_Bsend(own, 2 * room, MPI_BYTE, partner, 0, derived), MPI_ERR_BUFFER);
  // The buffer of a communicator goes before.
  CHECK_EQUAL(MPI_Comm_attach_buffer(derived, NULL, 0), MPI_SUCCESS);
  REFUSED(MPI_Bsend(&value, 1, MPI_BYTE, partner, 0, derived), MPI_ERR_BUFFER);
  CHECK_EQUAL(MPI_Comm_detach_buffer(derived, &detached, &size), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_detach_buffer_c(session, &detached, &bytes), MPI_SUCCESS);
  CHECK(detached == own);
  CHECK_EQUAL(bytes, room);
  REFUSED(MPI_Session_detach_buffer(session, &detached, &size), MPI_ERR_BUFFER);
  CHECK_EQUAL(errors_seen, 2);
  REFUSED(MPI_Bsend(&value, 1, MPI_BYTE, partner, 0, comm), MPI_ERR_BUFFER);

  CHECK_EQUAL(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
  for (int round = 0; round < 20; round++)
    send_and_receive(all[round % 3], session, NULL);
  for (int i = 0; i < 3; i++) {
    // Received when the sender has left MPI_Session_flush_buffer, or is in it.
    MPI_Request receive;
    char got = 0;
    value = (char)('a' + rank_in(comm) % 20);
    MPI_Irecv(&got, 1, MPI_CHAR, partner, 7, all[i], &receive);
    CHECK_EQUAL(MPI_Bsend(&value, 1, MPI_CHAR, partner, 7, all[i]), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_flush_buffer(session), MPI_SUCCESS);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 'a' + partner % 20);
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free(&derived);
  MPI_Comm_free(&of_subgroup);
  MPI_Comm_free(&of_other);
  MPI_Session_finalize(&session);
  MPI_Session_finalize(&other);
  free(own);
  return 0;
}
