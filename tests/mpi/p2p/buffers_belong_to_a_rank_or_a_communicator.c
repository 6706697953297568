// A communicator's own buffer serves only its sends; flushing, at once or by a request, waits for
// the sends from that buffer; an automatic buffer is unlimited.
#include "../check.h"

enum { message_bytes = 4096, room = 2 * (message_bytes + MPI_BSEND_OVERHEAD) };

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void send_and_receive(MPI_Comm comm, int partner, MPI_Request* flush) {
  static unsigned char out[message_bytes], in[message_bytes];
  const int me = rank_in(comm);
  pattern_fill(out, message_bytes, (uint64_t)me);
  CHECK_EQUAL(MPI_Bsend_c(out, message_bytes, MPI_BYTE, partner, 1, comm), MPI_SUCCESS);
  memset(out, 0, message_bytes);
  if (flush != NULL) MPI_Comm_iflush_buffer(comm, flush);
  MPI_Recv(in, message_bytes, MPI_BYTE, partner, 1, comm, MPI_STATUS_IGNORE);
  CHECK_PATTERN(in, message_bytes, (uint64_t)partner);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int me = rank_in(MPI_COMM_WORLD);
  const int partner = size_of(MPI_COMM_WORLD) - 1 - me;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  char* own = malloc(room);
  char* detached = NULL;
  MPI_Count bytes = 0;

  CHECK_EQUAL(MPI_Comm_attach_buffer_c(comm, own, room), MPI_SUCCESS);
  CHECK_EQUAL(class_of(MPI_Comm_attach_buffer(comm, own, room)), MPI_ERR_BUFFER);
  // The world has no buffer, and may not use the duplicate's.
  CHECK_EQUAL(class_of(MPI_Bsend(own, 1, MPI_BYTE, partner, 0, MPI_COMM_WORLD)), MPI_ERR_BUFFER);
  for (int round = 0; round < 4; round++) {
    MPI_Request flush = MPI_REQUEST_NULL;
    send_and_receive(comm, partner, round % 2 ? &flush : NULL);
    if (round % 2) {
      MPI_Wait(&flush, MPI_STATUS_IGNORE);
    } else {
      CHECK_EQUAL(MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
    }
    CHECK(flush == MPI_REQUEST_NULL);
  }
  CHECK_EQUAL(MPI_Comm_detach_buffer_c(comm, &detached, &bytes), MPI_SUCCESS);
  CHECK(detached == own);
  CHECK_EQUAL(bytes, room);
  CHECK_EQUAL(class_of(MPI_Comm_detach_buffer_c(comm, &detached, &bytes)), MPI_ERR_BUFFER);

  // Without a buffer of its own, a communicator's sends use the rank's.
  CHECK_EQUAL(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
  for (int round = 0; round < 20; round++)
    send_and_receive(round % 2 ? comm : MPI_COMM_WORLD, partner, NULL);
  MPI_Request flush;
  CHECK_EQUAL(MPI_Buffer_iflush(&flush), MPI_SUCCESS);
  MPI_Wait(&flush, MPI_STATUS_IGNORE);
  CHECK_EQUAL(MPI_Buffer_detach_c(&detached, &bytes), MPI_SUCCESS);
  CHECK((void*)detached == MPI_BUFFER_AUTOMATIC);

  free(own);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
