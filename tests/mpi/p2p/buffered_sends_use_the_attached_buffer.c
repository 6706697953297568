// Buffered sends return at once as long as the attached buffer has room, and fail if it has not;
// detaching waits for them; the data is copied at once.
#include "../check.h"

enum { message_bytes = 3000, message_count = 4 };

// Programs that count on a smaller overhead than MPI_BSEND_OVERHEAD: ten messages of 40 bytes in
// 2000. Sent to the rank itself, so that none is received before the last is sent.
static void small_messages_take_little_room(void) {
  static char attached[2000];
  char out[40] = "x", in[40], *detached;
  int bytes;
  MPI_Buffer_attach(attached, sizeof attached);
  for (int i = 0; i < 10; i++)
    CHECK_EQUAL(MPI_Bsend(out, sizeof out, MPI_CHAR, 0, i, MPI_COMM_SELF), MPI_SUCCESS);
  for (int i = 0; i < 10; i++)
    MPI_Recv(in, sizeof in, MPI_CHAR, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &bytes);
  CHECK_EQUAL(bytes, sizeof attached);
}

int main(int argc, char** argv) {
  static unsigned char out[message_bytes], in[message_bytes];
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD);
  const int partner = size_of(MPI_COMM_WORLD) - 1 - me;
  int packed, bytes, error_class;
  MPI_Pack_size(message_bytes, MPI_BYTE, MPI_COMM_WORLD, &packed);
  const int room = message_count * (packed + MPI_BSEND_OVERHEAD);
  char* attached = malloc((size_t)room);
  char* detached = NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  MPI_Error_class(MPI_Bsend(out, 1, MPI_BYTE, partner, 0, MPI_COMM_WORLD), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_BUFFER);
  small_messages_take_little_room();
  for (int round = 0; round < 3; round++) {
    CHECK_EQUAL(MPI_Buffer_attach(attached, room), MPI_SUCCESS);
    MPI_Error_class(MPI_Buffer_attach(attached, room), &error_class);
    CHECK_EQUAL(error_class, MPI_ERR_BUFFER);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request requests[message_count];
    for (int i = 0; i < message_count; i++) {
      pattern_fill(out, message_bytes, (uint64_t)(100 * me + i));
      if (i % 2) {
        CHECK_EQUAL(MPI_Bsend(out, message_bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD),
                    MPI_SUCCESS);
        requests[i] = MPI_REQUEST_NULL;
      } else {
        CHECK_EQUAL(
            MPI_Ibsend(out, message_bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD, &requests[i]),
            MPI_SUCCESS);
      }
      memset(out, 0, message_bytes);
    }
    MPI_Waitall(message_count, requests, MPI_STATUSES_IGNORE);
    // Last to first: each message has to wait.
    for (int i = message_count - 1; i >= 0; i--) {
      MPI_Recv(in, message_bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_PATTERN(in, message_bytes, (uint64_t)(100 * partner + i));
    }
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == attached);
    CHECK_EQUAL(bytes, room);
  }
  MPI_Error_class(MPI_Buffer_detach(&detached, &bytes), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_BUFFER);

  // Too small for the message: an error, and nothing is sent.
  MPI_Buffer_attach(attached, 100);
  MPI_Error_class(MPI_Bsend(out, 200, MPI_BYTE, partner, 9, MPI_COMM_WORLD), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_BUFFER);
  MPI_Request refused = MPI_REQUEST_NULL;
  MPI_Error_class(MPI_Ibsend(out, 200, MPI_BYTE, partner, 9, MPI_COMM_WORLD, &refused),
                  &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_BUFFER);
  CHECK(refused == MPI_REQUEST_NULL);
  MPI_Buffer_detach(&detached, &bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  int flag = 1;
  MPI_Iprobe(partner, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);

  // Still attached at MPI_Finalize, with a message in flight.
  MPI_Buffer_attach(attached, room);
  MPI_Bsend(&me, 1, MPI_INT, partner, 10, MPI_COMM_WORLD);
  MPI_Recv(&bytes, 1, MPI_INT, partner, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(bytes, partner);
  MPI_Finalize();
  free(attached);
  return 0;
}
