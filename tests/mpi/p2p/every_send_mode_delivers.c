// Every send mode, blocking, nonblocking and persistent, delivers its data, to the neighbour and to
// the sender itself, for sizes on both sides of every limit of the message protocol.
#include "../check.h"

#define BIGGEST 70000
static const int sizes[] = {0, 1, 8, 511, 512, 513, 4096, 16383, 16384, 16385, BIGGEST};

enum { size_count = sizeof sizes / sizeof sizes[0], mode_count = 12, persistent_rounds = 3 };

static unsigned char out[BIGGEST], in[BIGGEST];
static int me, left, right;

static uint64_t key_of(int sender, int mode, int round) {
  return (uint64_t)(sender * 1000 + mode * 10 + round);
}

static void receive(MPI_Request* receive_request, int source, int mode, int bytes, int round) {
  MPI_Status status;
  int count;
  MPI_Wait(receive_request, &status);
  CHECK_EQUAL(status.MPI_SOURCE, source);
  CHECK_EQUAL(status.MPI_TAG, mode);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(count, bytes);
  CHECK_PATTERN(in, (size_t)bytes, key_of(source, mode, round));
}

static void send_blocking(int mode, int to, int bytes) {
  if (mode == 0) MPI_Send(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD);
  if (mode == 1) MPI_Ssend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD);
  if (mode == 2) MPI_Rsend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD);
  if (mode == 3) MPI_Bsend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD);
}

static void start_nonblocking(int mode, int to, int bytes, MPI_Request* request) {
  if (mode == 4) MPI_Isend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 5) MPI_Issend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 6) MPI_Irsend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 7) MPI_Ibsend(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
}

static void make_persistent(int mode, int to, int bytes, MPI_Request* request) {
  if (mode == 8) MPI_Send_init(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 9) MPI_Ssend_init(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 10) MPI_Rsend_init(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
  if (mode == 11) MPI_Bsend_init(out, bytes, MPI_BYTE, to, mode, MPI_COMM_WORLD, request);
}

/// A ready send may only start when its receive is posted: the sender waits for a message.
static void agree_that_receives_are_posted(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange_once(int mode, int to, int from, int bytes) {
  MPI_Request receive_request, send_request;
  memset(in, 0, sizeof in);
  pattern_fill(out, (size_t)bytes, key_of(me, mode, 0));
  MPI_Irecv(in, BIGGEST, MPI_BYTE, from, mode, MPI_COMM_WORLD, &receive_request);
  agree_that_receives_are_posted();
  if (mode < 4) {
    send_blocking(mode, to, bytes);
  } else {
    start_nonblocking(mode, to, bytes, &send_request);
    MPI_Wait(&send_request, MPI_STATUS_IGNORE);
    CHECK(send_request == MPI_REQUEST_NULL);
  }
  memset(out, 0xee, (size_t)bytes);
  receive(&receive_request, from, mode, bytes, 0);
}

static void exchange_again_and_again(int mode, int to, int from, int bytes) {
  MPI_Request send_request, receive_request;
  make_persistent(mode, to, bytes, &send_request);
  MPI_Recv_init(in, BIGGEST, MPI_BYTE, from, mode, MPI_COMM_WORLD, &receive_request);
  for (int round = 0; round < persistent_rounds; round++) {
    pattern_fill(out, (size_t)bytes, key_of(me, mode, round));
    MPI_Start(&receive_request);
    agree_that_receives_are_posted();
    MPI_Startall(1, &send_request);
    MPI_Wait(&send_request, MPI_STATUS_IGNORE);
    CHECK(send_request != MPI_REQUEST_NULL);
    memset(out, 0xee, (size_t)bytes);
    receive(&receive_request, from, mode, bytes, round);
    CHECK(receive_request != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&send_request);
  MPI_Request_free(&receive_request);
  CHECK(send_request == MPI_REQUEST_NULL && receive_request == MPI_REQUEST_NULL);
}

static void exchange_all(int to, int from) {
  for (int s = 0; s < size_count; s++) {
    for (int mode = 0; mode < 8; mode++)
      exchange_once(mode, to, from, sizes[s]);
    for (int mode = 8; mode < mode_count; mode++)
      exchange_again_and_again(mode, to, from, sizes[s]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  left = (me + ranks - 1) % ranks;
  right = (me + 1) % ranks;
  const int attached_bytes = 2 * (BIGGEST + MPI_BSEND_OVERHEAD);
  void* attached = malloc((size_t)attached_bytes);
  MPI_Buffer_attach(attached, attached_bytes);
  exchange_all(right, left);
  exchange_all(me, me);
  void* detached;
  int detached_bytes;
  MPI_Buffer_detach(&detached, &detached_bytes);
  CHECK(detached == attached);
  CHECK_EQUAL(detached_bytes, attached_bytes);
  free(attached);
  MPI_Finalize();
  return 0;
}
