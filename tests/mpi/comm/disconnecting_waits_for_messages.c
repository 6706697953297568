// MPI_Comm_disconnect returns when all members have called it and the messages without a request,
// from an attached buffer or after MPI_Request_free, have left their buffers.
#include <unistd.h>

#include "../check.h"

enum { bytes = 100000 };

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// The last rank comes late.
static void disconnect(MPI_Comm* comm) {
  double entered = MPI_Wtime(), last_entered, first_left;
  CHECK_EQUAL(MPI_Comm_disconnect(comm), MPI_SUCCESS);
  double left = MPI_Wtime();
  CHECK(*comm == MPI_COMM_NULL);
  MPI_Allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  CHECK(last_entered <= first_left);
}

/// Each rank sends to the next one, which receives late; then the sender's memory changes.
static void to_the_next(MPI_Comm comm, int is_buffered) {
  static unsigned char out[bytes], in[bytes];
  static char attached[bytes + MPI_BSEND_OVERHEAD];
  const int me = rank_in(comm), size = size_of(comm);
  const int previous = (me + size - 1) % size;
  MPI_Request request;
  pattern_fill(out, bytes, (uint64_t)me);
  if (is_buffered) {
    CHECK_EQUAL(MPI_Comm_attach_buffer(comm, attached, sizeof attached), MPI_SUCCESS);
    MPI_Bsend(out, bytes, MPI_BYTE, (me + 1) % size, 0, comm);
  } else {
    MPI_Isend(out, bytes, MPI_BYTE, (me + 1) % size, 0, comm, &request);
    MPI_Request_free(&request);
  }
  if (me == size - 1 && size > 1) {
    // What the rank before has sent is in the memory of that rank meanwhile.
    usleep(10000);
  }
  memset(in, 0, bytes);
  if (me % 2 == 1 || size == 1) {
    MPI_Recv(in, bytes, MPI_BYTE, previous, 0, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(in, bytes, MPI_BYTE, previous, 0, comm, &request);
    MPI_Request_free(&request);
  }
  disconnect(&comm);
  memset(out, 255, bytes);
  memset(attached, 255, sizeof attached);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_PATTERN(in, bytes, (uint64_t)previous);
}

static void between_groups(void) {
  const int me = rank_in(MPI_COMM_WORLD), side = me % 2;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, side, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
  if (me == size_of(MPI_COMM_WORLD) - 1) usleep(10000);
  disconnect(&both);
  MPI_Comm_disconnect(&half);
}

int main(int argc, char** argv) {
  MPI_Comm comm, world = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  for (int is_buffered = 0; is_buffered < 2; is_buffered++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    to_the_next(comm, is_buffered);
  }
  if (size_of(MPI_COMM_WORLD) > 1) between_groups();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_EQUAL(class_of(MPI_Comm_disconnect(&world)), MPI_ERR_COMM);
  CHECK(world == MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
