// MPI_Probe, MPI_Iprobe, MPI_Mprobe and MPI_Improbe return source, tag and size of the message that
// a receive would match; a matched probe reserves it, so that only its handle can receive it.
#include "../check.h"

enum { biggest = 40000 };

static const int sizes[] = {0, 4, 500, 600, 16384, biggest};

enum { size_count = sizeof sizes / sizeof sizes[0] };

static unsigned char in[biggest];
static int partner;

static void check_status(const MPI_Status* status, int tag, int bytes) {
  int count;
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK_EQUAL(status->MPI_SOURCE, partner);
  CHECK_EQUAL(status->MPI_TAG, tag);
  CHECK_EQUAL(count, bytes);
}

/// One of the four probes; the message has been sent or will be.
static MPI_Message look(int way, int source, int tag, MPI_Status* status) {
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0;
  if (way == 0) MPI_Probe(source, tag, MPI_COMM_WORLD, status);
  while (way == 1 && !flag)
    MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, status);
  if (way == 2) MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, status);
  while (way == 3 && !flag)
    MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, status);
  return message;
}

static void receive_seen(int way, MPI_Message message, int tag, int bytes) {
  MPI_Status status;
  MPI_Request request;
  memset(in, 0, sizeof in);
  if (way < 2) {
    MPI_Recv(in, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &status);
  } else if (bytes % 8 == 0) {
    MPI_Mrecv(in, bytes, MPI_BYTE, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
  } else {
    MPI_Imrecv(in, bytes, MPI_BYTE, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, &status);
  }
  check_status(&status, tag, bytes);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)(partner * 100 + tag));
}

static void probes_tell_the_envelope(void) {
  static unsigned char out[size_count][4][biggest];
  MPI_Request requests[size_count][4];
  for (int s = 0; s < size_count; s++) {
    for (int way = 0; way < 4; way++) {
      const int tag = s * 4 + way;
      pattern_fill(out[s][way], (size_t)sizes[s], (uint64_t)(rank_in(MPI_COMM_WORLD) * 100 + tag));
      MPI_Isend(out[s][way], sizes[s], MPI_BYTE, partner, tag, MPI_COMM_WORLD, &requests[s][way]);
    }
  }
  // In order with a wildcard, so that the oldest is next.
  for (int s = 0; s < size_count; s++) {
    for (int way = 0; way < 4; way++) {
      MPI_Status status;
      const int tag = s * 4 + way;
      const MPI_Message message =
          look(way, s % 2 ? MPI_ANY_SOURCE : partner, way % 2 ? MPI_ANY_TAG : tag, &status);
      check_status(&status, tag, sizes[s]);
      receive_seen(way, message, tag, sizes[s]);
    }
  }
  MPI_Waitall(size_count * 4, requests[0], MPI_STATUSES_IGNORE);
}

static void a_message_set_aside_is_seen_by_nobody_else(void) {
  int first = 1, second = 2, got = 0, flag = 1;
  MPI_Message message;
  MPI_Request requests[2];
  MPI_Isend(&first, 1, MPI_INT, partner, 77, MPI_COMM_WORLD, &requests[0]);
  MPI_Mprobe(partner, 77, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Iprobe(partner, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(&second, 1, MPI_INT, partner, 77, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv(&got, 1, MPI_INT, partner, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 2);
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void a_probe_waits_for_a_late_message(void) {
  MPI_Status status;
  int value = 5, count;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) % 2 == 0) {
    // Another message first: it must not wake the probe.
    MPI_Isend(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
  }
  if (partner % 2 == 0) {
    MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 1);
    MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void an_empty_mailbox_shows_nothing(void) {
  int flag = 1;
  MPI_Message message;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  flag = 1;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  partner = size_of(MPI_COMM_WORLD) - 1 - rank_in(MPI_COMM_WORLD);
  an_empty_mailbox_shows_nothing();
  probes_tell_the_envelope();
  a_message_set_aside_is_seen_by_nobody_else();
  a_probe_waits_for_a_late_message();
  MPI_Finalize();
  return 0;
}
